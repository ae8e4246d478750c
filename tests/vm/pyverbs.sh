#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# pyverbs.sh: rdma-core's own tests, all but those for other vendors' devices; each of its files in a process of its
# own, since one that ends badly takes the interpreter along. pyverbs.skips has what is skipped, and why.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# Debian's package brings them as documentation, which some machines do without.
source=/usr/share/doc/rdma-core/tests
[ -d $source ] || skip "no $source: dpkg leaves documentation out here"
cp -r $source "$scratch/tests"
gunzip "$scratch"/tests/*.gz

module() {
	limit=100 run python3 "$tree/tests/vm/pyverbs_suite.py" "$scratch/tests" "$tree/tests/vm/pyverbs.skips" "$1" \
		--dev "$device" --port 1 --gid 1
}

ok 'an address' run ip address add 10.8.0.1/24 dev "$device"
ok 'a route to groups' run ip route add 224.0.0.0/4 dev "$device"
ok 'huge pages' run sysctl -q vm.nr_hugepages=16
for file in "$scratch"/tests/test_*.py; do
	name=$(basename "$file" .py)
	case $name in
	*mlx5* | *efa* | *cuda*) ;;
	*) ok "$name" module "$name" ;;
	esac
done
finish
