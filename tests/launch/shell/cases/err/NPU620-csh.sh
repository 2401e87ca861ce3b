#!/bin/csh
setenv RANK_SIZE 8
