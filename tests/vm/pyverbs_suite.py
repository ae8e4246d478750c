#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
"""pyverbs_suite.py FOLDER SKIPS MODULE OPTION...: runs a module of rdma-core's own tests, which are in FOLDER.

Prints a line per test. Fails if a test does, if one is skipped that the file SKIPS does not name, or if one that it
names is not skipped any more, so that the list stays as short as it can be. OPTION: as for rdma-core's run_tests.py.
"""
import sys
import unittest


def read_skips(path):
    """The names in the file, each of which is followed by a reason."""
    with open(path, encoding='ascii') as lines:
        entries = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith('#')]
    return {name for name, _reason in entries}


class Result(unittest.TestResult):
    """Compares how each test ends with how it is to end."""

    def __init__(self, skips):
        super().__init__()
        self.skips = skips
        self.passed = 0
        self.skipped_as_told = 0
        self.wrong = 0

    @staticmethod
    def name(test):
        return test.id().removeprefix('tests.')

    def complain(self, test, text):
        self.wrong += 1
        print(f'{self.name(test)}: {text}', flush=True)

    def addSuccess(self, test):
        if self.name(test) in self.skips:
            self.complain(test, 'passes, and is listed as one to be skipped')
        else:
            self.passed += 1
            print(f'{self.name(test)}: passed', flush=True)

    def addSkip(self, test, reason):
        if self.name(test) in self.skips:
            self.skipped_as_told += 1
            print(f'{self.name(test)}: skipped: {reason}', flush=True)
        else:
            self.complain(test, f'SKIPPED: {reason}')

    def addFailure(self, test, err):
        self.complain(test, 'FAILED\n' + self._exc_info_to_string(err, test))

    addError = addFailure


def main():
    folder, skips, module = sys.argv[1:4]
    # The suite reads its options from there, and calls its folder "tests".
    sys.argv[1:] = sys.argv[4:]
    sys.path.insert(0, folder)
    from args_parser import parser  # pylint: disable=import-error,import-outside-toplevel
    parser.parse_args()
    sys.path.insert(0, folder + '/..')
    result = Result(read_skips(skips))
    unittest.defaultTestLoader.loadTestsFromName(f'tests.{module}').run(result)
    print(f'{result.passed} passed, {result.skipped_as_told} skipped, {result.wrong} wrong')
    return 1 if result.wrong or not result.passed + result.skipped_as_told else 0


sys.exit(main())
