// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {LibBytes} from "solady/utils/LibBytes.sol";
import {SSTORE2} from "solady/utils/SSTORE2.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

/// @dev Keeps a URI in the one form, whatever its length: what the registry chooses between.
contract InSlots {
    using LibBytes for LibBytes.BytesStorage;

    LibBytes.BytesStorage private text;

    function write(string calldata uri) external {
        text.set(bytes(uri));
    }
}

/// @dev Keeps a URI in the other form.
contract InCode {
    address private pointer;

    function write(string calldata uri) external {
        pointer = SSTORE2.write(bytes(uri));
    }
}

/// forge-config: default.isolate = true
contract AgentUrisTest is RegistryTest {
    uint256 private constant SLOTS_MAX = 159;
    uint256 private constant CODE_MAX = 24_575; // EIP-170, without the byte that stops

    function test_ForEveryLengthAroundTheSwitch_UriIsUnchanged() external {
        for (uint256 length = 0; length <= 420; ++length) {
            string memory uri = _uri(length, "a");
            assertEq(identity.tokenURI(_registerUri(uri)), uri);
            vm.prank(owner.addr);
            identity.setAgentURI(agentId, uri);
            assertEq(identity.tokenURI(agentId), uri);
        }
    }

    function test_WhenUriIsShort_TakesSlots() external {
        uint64 nonce = vm.getNonce(address(identity));
        uint256[7] memory lengths = [uint256(0), 31, 32, 63, 64, 127, SLOTS_MAX];
        uint256[7] memory slots = [uint256(0), 1, 2, 2, 3, 4, 5];
        for (uint256 i = 0; i < lengths.length; ++i) {
            assertEq(_slotsOf(_uri(lengths[i], "a")), slots[i]);
        }
        assertEq(vm.getNonce(address(identity)), nonce); // no contract made
    }

    function test_WhenUriIsLong_BecomesCode() external {
        uint256[3] memory lengths = [SLOTS_MAX + 1, 1500, CODE_MAX];
        for (uint256 i = 0; i < lengths.length; ++i) {
            string memory uri = _uri(lengths[i], "a");
            address made = vm.computeCreateAddress(address(identity), vm.getNonce(address(identity)));
            assertEq(_slotsOf(uri), 1);
            assertEq(made.code, bytes.concat(hex"00", bytes(uri)));
            (bool success, bytes memory answer) = made.call(bytes(uri));
            assertTrue(success);
            assertEq(answer.length, 0);
        }
    }

    function test_WhenUriIsAtCodeLimit_IsUnchanged() external {
        uint64 nonce = vm.getNonce(address(identity));
        uint256[4] memory lengths = [CODE_MAX - 1, CODE_MAX, CODE_MAX + 1, CODE_MAX + 40];
        for (uint256 i = 0; i < lengths.length; ++i) {
            string memory uri = _uri(lengths[i], "a");
            assertEq(identity.tokenURI(_registerUri(uri)), uri);
            vm.prank(owner.addr);
            identity.setAgentURI(agentId, uri);
            assertEq(identity.tokenURI(agentId), uri);
        }
        assertEq(vm.getNonce(address(identity)), nonce + 4);
    }

    function test_WhenFormChanges_LastUriStands() external {
        uint256[8] memory lengths = [uint256(150), 1500, 150, 20, 0, CODE_MAX + 1, 200, 31];
        bytes[2] memory letters = [bytes("a"), "b"];
        for (uint256 i = 0; i < lengths.length; ++i) {
            string memory uri = _uri(lengths[i], letters[i % 2]);
            vm.prank(owner.addr);
            identity.setAgentURI(agentId, uri);
            assertEq(identity.tokenURI(agentId), uri);
            assertEq(abi.encode(identity.tokenURI(agentId)), abi.encode(uri));
        }
        assertEq(identity.tokenURI(otherAgentId), AGENT_URI);
    }

    function test_WhenUriIsOfHighBytes_IsUnchanged() external {
        for (uint256 length = 0; length <= SLOTS_MAX + 1; ++length) {
            string memory uri = _uri(length, hex"ff");
            assertEq(identity.tokenURI(_registerUri(uri)), uri);
        }
    }

    /// @dev Three quarters of the gas that it takes: the slots are written, the code is not.
    function test_RevertWhen_GasIsTooLowForCode() external {
        string memory uri = _uri(8000, "a");
        _registerUri(uri);
        uint256 used = vm.lastCallGas().gasTotalUsed;
        vm.prank(owner.addr);
        (bool success, bytes memory reason) =
            address(identity).call{gas: used * 3 / 4}(abi.encodeWithSignature("register(string)", uri));
        assertFalse(success);
        assertEq(reason, abi.encodeWithSelector(IIdentity.DeploymentFailed.selector));
        assertEq(identity.balanceOf(owner.addr), 2);
    }

    function test_AroundTheSwitch_TheCheaperFormIsTaken() external {
        assertLt(_costOf(new InSlots(), SLOTS_MAX), _costOf(InSlots(address(new InCode())), SLOTS_MAX));
        assertGt(_costOf(new InSlots(), SLOTS_MAX + 1), _costOf(InSlots(address(new InCode())), SLOTS_MAX + 1));
    }

    function testFuzz_LongUrisAreUnchanged(string memory first, string memory second, uint256 repeated) external {
        repeated = bound(repeated, 0, 4);
        for (uint256 i = 0; i < repeated; ++i) {
            (first, second) = (string.concat(second, first), string.concat(first, second));
        }
        uint256 id = _registerUri(first);
        assertEq(identity.tokenURI(id), first);
        vm.prank(owner.addr);
        identity.setAgentURI(id, second);
        assertEq(identity.tokenURI(id), second);
    }

    /// @dev Written once, and once more in place of the first.
    function _costOf(InSlots store, uint256 length) private returns (uint256 gas_) {
        store.write(_uri(length, "a"));
        gas_ = vm.lastCallGas().gasTotalUsed;
        store.write(_uri(length, "b"));
        gas_ += vm.lastCallGas().gasTotalUsed;
    }

    /// @dev How many slots that were zero setting a new agent's URI fills.
    function _slotsOf(string memory uri) private returns (uint256 filled) {
        vm.prank(owner.addr);
        uint256 id = identity.register();
        vm.record();
        vm.prank(owner.addr);
        identity.setAgentURI(id, uri);
        (, bytes32[] memory writes) = vm.accesses(address(identity));
        for (uint256 i = 0; i < writes.length; ++i) {
            if (vm.load(address(identity), writes[i]) != 0) ++filled;
        }
        assertEq(identity.tokenURI(id), uri);
    }

    function _registerUri(string memory uri) private returns (uint256) {
        vm.prank(owner.addr);
        return identity.register(uri);
    }

    /// @dev The bytes differ from place to place, so that none can stand for another.
    function _uri(uint256 length, bytes memory seed) private pure returns (string memory) {
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            // A byte.
            // forge-lint: disable-next-line(unsafe-typecast)
            text[i] = bytes1(uint8(seed[0]) - uint8(i % 26));
        }
        return string(text);
    }
}
