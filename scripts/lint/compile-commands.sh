#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
# compile-commands.sh: prints, as a compilation database, how the provider, the pure core and the tests are
# compiled for this machine. The folders' own Makefiles are asked, so that no flag is written down twice.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/../.."

for folder in userspace tests/unit tests/unit/userspace tests/fuzz tests/vm; do
	make --always-make --dry-run --print-directory --no-builtin-rules -C $folder all
done | awk -v shim="$PWD/scripts/lint/source_location.hpp" '
	/: Entering directory / {
		split($0, quoted, "\047")
		directory[++depth] = quoted[2]
	}
	/: Leaving directory / { depth-- }
	$1 ~ /(^|\/)(gcc|g\+\+|clang|clang\+\+)$/ {
		source = ""
		for (i = 2; i <= NF; i++)
			if ($i ~ /\.(c|cpp)$/) source = $i
		if (source ~ /^[^\/]/) source = directory[depth] "/" source
		# Several programs are made of one source; it is read once.
		while (sub(/[^\/]+\/\.\.\//, "", source));
		if (source == "" || seen[source]++) next
		if (source ~ /\.cpp$/) $1 = $1 " -include " shim
		gsub(/ -l[a-z_]+/, "")
		gsub(/["\\]/, "\\\\&")
		printf "%s{\"directory\": \"%s\", \"file\": \"%s\", \"command\": \"%s\"}", comma, directory[depth], source, $0
		comma = ",\n"
	}
	BEGIN { print "[" }
	END { print "\n]" }'
