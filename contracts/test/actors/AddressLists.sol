// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

// Free functions: two bases of a test could not both have them.

function listOf(address a) pure returns (address[] memory list) {
    list = new address[](1);
    list[0] = a;
}

function listOf(address a, address b) pure returns (address[] memory list) {
    list = new address[](2);
    (list[0], list[1]) = (a, b);
}

function listOf(address a, address b, address c) pure returns (address[] memory list) {
    list = new address[](3);
    (list[0], list[1], list[2]) = (a, b, c);
}
