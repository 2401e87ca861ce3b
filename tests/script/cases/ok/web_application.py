from flask import Flask
from model import close_session, shutdown_resource

app = Flask(__name__)
app.run()
shutdown_resource(None, None)
close_session(None)
