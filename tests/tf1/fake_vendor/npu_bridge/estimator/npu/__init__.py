"""The part of the fake vendor's package that holds the Estimator."""
