// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {WalletTest} from "../actors/WalletTest.sol";

/// @notice Answers every call with the same bytes.
contract Parrot {
    bytes private _answer;

    constructor(bytes memory answer) {
        _answer = answer;
    }

    fallback(bytes calldata) external returns (bytes memory) {
        return _answer;
    }
}

contract AgentReaderTest is WalletTest {
    struct Answer {
        bool succeeded;
        bytes data;
    }

    struct Read {
        uint256 number;
        uint256 time;
        Answer owner;
        Answer uri;
        Answer wallet;
        bool isContract;
    }

    function test_WhenAgentExists_ReadsAllOfIt() external {
        vm.roll(8004);
        vm.warp(1_800_000_000);
        Read memory read = _read(address(identity), agentId);
        assertEq(read.number, 8004);
        assertEq(read.time, 1_800_000_000);
        assertTrue(read.owner.succeeded && read.uri.succeeded && read.wallet.succeeded);
        assertEq(abi.decode(read.owner.data, (address)), owner.addr);
        assertEq(abi.decode(read.uri.data, (string)), identity.tokenURI(agentId));
        assertEq(abi.decode(read.wallet.data, (address)), owner.addr);
        assertFalse(read.isContract);
    }

    function test_WhenWalletHasCode_SaysSo() external {
        vm.etch(owner.addr, hex"00");
        assertTrue(_read(address(identity), agentId).isContract);
    }

    function test_WhenAgentDoesNotExist_OwnerReverts() external {
        Read memory read = _read(address(identity), UNKNOWN_ID);
        assertFalse(read.owner.succeeded);
        assertGt(read.owner.data.length, 0);
        assertFalse(read.isContract);
    }

    function test_WhenRegistryHasNoCode_EveryAnswerIsEmpty() external {
        Read memory read = _read(makeAddr("nothing"), agentId);
        assertTrue(read.owner.succeeded && read.uri.succeeded && read.wallet.succeeded);
        assertEq(read.owner.data.length + read.uri.data.length + read.wallet.data.length, 0);
        assertFalse(read.isContract);
    }

    function test_WhenRegistryAnswersOtherBytes_PassesThemOn() external {
        bytes[3] memory answers = [bytes(""), bytes("x"), abi.encode(type(uint256).max)];
        for (uint256 i = 0; i < answers.length; ++i) {
            Read memory read = _read(address(new Parrot(answers[i])), agentId);
            assertTrue(read.wallet.succeeded);
            assertEq(read.wallet.data, answers[i]);
            assertFalse(read.isContract);
        }
    }

    /// @dev What the constructor returns becomes the code of the address that it is deployed at.
    function _read(address registry, uint256 id) private returns (Read memory read) {
        bytes memory answer = vm.deployCode("AgentReader.sol:AgentReader", abi.encode(registry, id)).code;
        (read.number, read.time, read.owner, read.uri, read.wallet, read.isContract) =
            abi.decode(answer, (uint256, uint256, Answer, Answer, Answer, bool));
    }
}
