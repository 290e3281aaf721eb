// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @dev What every registry answers to `getVersion()` (R2).
string constant VERSION = "2.0.0+concord.2";
