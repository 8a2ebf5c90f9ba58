"""Limits on a client's requests: buckets of writes, buckets and lanes of reads, and one request at a time.

A write takes from a bucket in the database, because all hosts count it together (app/store/accounts/rates.py).  A
read takes from a bucket in the memory of one host (read_buckets.py), because a statement would cost more than the
read.  A large read waits for a lane of its process (read_costs.py).  A key that is used twice at once is refused
before it costs anything (duplicate_requests.py).
"""
