import tensorflow as tf
from npu_bridge.npu_init import *
from hccl.manage.api import get_rank_id


def main():
    rank = get_rank_id()
    print(rank)


if __name__ == "__main__":
    main()
