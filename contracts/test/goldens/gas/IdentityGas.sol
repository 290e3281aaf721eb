// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry} from "../../../src/interfaces/IIdentityRegistry.sol";
import {WalletConsent} from "../../actors/WalletConsent.sol";
import {GasTable} from "./GasTable.sol";

abstract contract IdentityGas is GasTable {
    // As long as URI, and another.
    string private constant NEXT_URI = "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdj";
    string private constant KEY = "note";
    bytes private constant VALUE = hex"0102030405060708090a0b0c0d0e0f1011121314"; // 20 bytes
    bytes private constant NEXT_VALUE = hex"7265706c61636564000000000000000021212121";

    function _measureIdentity() internal {
        _measureRegistering();
        uint256 agent = _register(makeAddr("a manager"));
        _measureManaging(agent, makeAddr("a manager"));
        _measureWallet(agent, makeAddr("a manager"));
        _assertTable("identity", "IdentityRegistry.gas.json");
    }

    function _measureRegistering() private {
        address registrant = makeAddr("a registrant");
        _transact(registrant, address(identity), abi.encodeWithSignature("register()"));
        _row("register()", "new owner", 106_883, NO_BAR);
        _transact(registrant, address(identity), abi.encodeWithSignature("register()"));
        _row("register()", "same owner again", 89_783, NO_BAR);
        _registerUri(66);
        _row("register(string)", "URI 66, new owner", 200_652, 86);
        _registerUri(159);
        _row("register(string)", "URI 159, new owner", NOT_MEASURED, NO_BAR);
        _registerUri(160);
        _row("register(string)", "URI 160, new owner", NOT_MEASURED, NO_BAR);
        _registerUri(1500);
        _row("register(string)", "URI 1,500, new owner", 1_211_427, 45);
        IIdentityRegistry.MetadataEntry[] memory metadata = new IIdentityRegistry.MetadataEntry[](1);
        metadata[0] = IIdentityRegistry.MetadataEntry(KEY, VALUE);
        _transact(
            makeAddr("a third registrant"),
            address(identity),
            abi.encodeWithSignature("register(string,(string,bytes)[])", URI, metadata)
        );
        _row("register(string,(string,bytes)[])", "URI 66, one value of 20 bytes, new owner", 230_915, NO_BAR);
    }

    /// @dev By a new owner. From 66 bytes on: the URI of the canonical measurements, and more.
    function _registerUri(uint256 length) private {
        bytes memory uri = bytes.concat(bytes(URI), new bytes(length - bytes(URI).length));
        for (uint256 i = bytes(URI).length; i < length; ++i) {
            uri[i] = "a";
        }
        address registrant = makeAddr(string.concat("registrant with ", vm.toString(length)));
        _transact(registrant, address(identity), abi.encodeWithSignature("register(string)", uri));
    }

    function _measureManaging(uint256 agent, address manager) private {
        _transact(manager, address(identity), abi.encodeCall(identity.setAgentURI, (agent, NEXT_URI)));
        _row("setAgentURI", "66 bytes to 66", 47_162, NO_BAR);
        _transact(manager, address(identity), abi.encodeCall(identity.setMetadata, (agent, KEY, VALUE)));
        _row("setMetadata", "20 bytes, new key", NOT_MEASURED, NO_BAR);
        _transact(manager, address(identity), abi.encodeCall(identity.setMetadata, (agent, KEY, NEXT_VALUE)));
        _row("setMetadata", "20 bytes, key again", NOT_MEASURED, NO_BAR);
    }

    /// @dev "As registered": the canonical registry has stored the wallet by then, ours not yet.
    function _measureWallet(uint256 agent, address manager) private {
        _setWallet(agent, manager, 60);
        _row("setAgentWallet", "key, wallet as registered", 50_416, NO_BAR);
        _setWallet(agent, manager, 61);
        _row("setAgentWallet", "key, wallet set before", 50_416, NO_BAR);
        _transact(manager, address(identity), abi.encodeCall(identity.unsetAgentWallet, (agent)));
        _row("unsetAgentWallet", "wallet set before", 32_337, NO_BAR);
        _setWallet(agent, manager, 62);
        _transfer(agent, manager);
        _row("transferFrom", "to a new owner, wallet set before", 63_480, NO_BAR);
        agent = _register(manager);
        _transfer(agent, manager);
        _row("transferFrom", "to a new owner, wallet as registered", 63_480, NO_BAR);
    }

    function _transfer(uint256 agent, address from) private {
        address buyer = makeAddr(string.concat("buyer of ", vm.toString(agent)));
        _transact(from, address(identity), abi.encodeCall(identity.transferFrom, (from, buyer, agent)));
    }

    function _setWallet(uint256 agent, address manager, uint256 delay) private {
        Vm.Wallet memory wallet = vm.createWallet("a wallet");
        WalletConsent memory consent = WalletConsent(agent, wallet.addr, manager, block.timestamp + delay);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(wallet, consent.digest(block.chainid, address(identity)));
        bytes memory signature = abi.encodePacked(r, s, v);
        _transact(
            manager,
            address(identity),
            abi.encodeCall(identity.setAgentWallet, (agent, wallet.addr, consent.deadline, signature))
        );
    }
}
