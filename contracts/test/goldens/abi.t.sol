// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {Test} from "forge-std/Test.sol";

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {IReputationRegistry as IOpenReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";

/// @dev Two kinds of goldens. The literals are the selectors and topics of the deployed canonical contracts (identity,
/// open reputation and validation 2.0.0, authorized reputation v1.0) and hold us to them. The files in contracts/abi are
/// our own whole ABI, which clients use, so that no change of it goes unnoticed: `CONCORD_BLESS=1 forge test --match-contract AbiTest` writes them anew.
contract AbiTest is Test {
    function test_IdentityFunctionsAreTheCanonicalOnes_R2() external view {
        string memory methods = _artifact("IdentityRegistry");
        _assertMethod(methods, "approve(address,uint256)", "095ea7b3");
        _assertMethod(methods, "balanceOf(address)", "70a08231");
        _assertMethod(methods, "eip712Domain()", "84b0196e");
        _assertMethod(methods, "getAgentWallet(uint256)", "00339509");
        _assertMethod(methods, "getApproved(uint256)", "081812fc");
        _assertMethod(methods, "getMetadata(uint256,string)", "cb4799f2");
        _assertMethod(methods, "getVersion()", "0d8e6e2c");
        _assertMethod(methods, "isApprovedForAll(address,address)", "e985e9c5");
        _assertMethod(methods, "isAuthorizedOrOwner(address,uint256)", "d95e72be");
        _assertMethod(methods, "name()", "06fdde03");
        _assertMethod(methods, "ownerOf(uint256)", "6352211e");
        _assertMethod(methods, "register()", "1aa3a008");
        _assertMethod(methods, "register(string,(string,bytes)[])", "8ea42286");
        _assertMethod(methods, "register(string)", "f2c298be");
        _assertMethod(methods, "safeTransferFrom(address,address,uint256,bytes)", "b88d4fde");
        _assertMethod(methods, "safeTransferFrom(address,address,uint256)", "42842e0e");
        _assertMethod(methods, "setAgentURI(uint256,string)", "0af28bd3");
        _assertMethod(methods, "setAgentWallet(uint256,address,uint256,bytes)", "2d1ef5ae");
        _assertMethod(methods, "setApprovalForAll(address,bool)", "a22cb465");
        _assertMethod(methods, "setMetadata(uint256,string,bytes)", "466648da");
        _assertMethod(methods, "supportsInterface(bytes4)", "01ffc9a7");
        _assertMethod(methods, "symbol()", "95d89b41");
        _assertMethod(methods, "tokenURI(uint256)", "c87b56dd");
        _assertMethod(methods, "transferFrom(address,address,uint256)", "23b872dd");
        _assertMethod(methods, "unsetAgentWallet(uint256)", "3fddcf19");
    }

    function test_IdentityTopicsAndErrorsAreTheCanonicalOnes_R2() external pure {
        assertEq(IERC721.Approval.selector, 0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925);
        assertEq(IERC721.ApprovalForAll.selector, 0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31);
        assertEq(IERC721.Transfer.selector, 0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef);
        assertEq(IERC4906.MetadataUpdate.selector, 0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7);
        assertEq(IIdentity.MetadataSet.selector, 0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b);
        assertEq(IIdentity.Registered.selector, 0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a);
        assertEq(IIdentity.URIUpdated.selector, 0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb);
        assertEq(IERC721Errors.ERC721IncorrectOwner.selector, bytes4(0x64283d7b));
        assertEq(IERC721Errors.ERC721InsufficientApproval.selector, bytes4(0x177e802f));
        assertEq(IERC721Errors.ERC721InvalidApprover.selector, bytes4(0xa9fbf51f));
        assertEq(IERC721Errors.ERC721InvalidOperator.selector, bytes4(0x5b08ba18));
        assertEq(IERC721Errors.ERC721InvalidOwner.selector, bytes4(0x89c62b64));
        assertEq(IERC721Errors.ERC721InvalidReceiver.selector, bytes4(0x64a0ae92));
        assertEq(IERC721Errors.ERC721InvalidSender.selector, bytes4(0x73c6ac6e));
        assertEq(IERC721Errors.ERC721NonexistentToken.selector, bytes4(0x7e273289));
    }

    function test_ReputationFunctionsAreTheFirstDrafts_R15() external view {
        string memory methods = _artifact("AuthorizedReputationRegistry");
        _assertMethod(methods, "appendResponse(uint256,address,uint64,string,bytes32)", "c2349ab2");
        _assertMethod(methods, "getClients(uint256)", "42dd519c");
        _assertMethod(methods, "getIdentityRegistry()", "bc4d861b");
        _assertMethod(methods, "getLastIndex(uint256,address)", "f2d81759");
        _assertMethod(methods, "getResponseCount(uint256,address,uint64,address[])", "6e04cacd");
        _assertMethod(methods, "getSummary(uint256,address[],bytes32,bytes32)", "31259cff");
        _assertMethod(methods, "readAllFeedback(uint256,address[],bytes32,bytes32,bool)", "80b87594");
        _assertMethod(methods, "giveFeedback(uint256,uint8,bytes32,bytes32,string,bytes32,bytes)", "155e5bbd");
        _assertMethod(methods, "readFeedback(uint256,address,uint64)", "232b0810");
        _assertMethod(methods, "revokeFeedback(uint256,uint64)", "4ab3ca99");
    }

    function test_ReputationTopicsAreTheFirstDrafts_R15() external pure {
        assertEq(IReputation.NewFeedback.selector, 0x54b3254e4cc01969e70376d20390cc2f6af90539d9adaa78a53ebcda17f78154);
        assertEq(
            IFeedback.ResponseAppended.selector, 0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4
        );
        assertEq(IFeedback.FeedbackRevoked.selector, 0x25156fd3288212246d8b008d5921fde376c71ed14ac2e072a506eb06fde6d09d);
        assertEq(IBoundRegistry.ERC721NonexistentToken.selector, IERC721Errors.ERC721NonexistentToken.selector);
    }

    function test_OpenFunctionsAreTheCanonicalOnes_R2() external view {
        string memory methods = _artifact("ReputationRegistry");
        _assertMethod(methods, "appendResponse(uint256,address,uint64,string,bytes32)", "c2349ab2");
        _assertMethod(methods, "getClients(uint256)", "42dd519c");
        _assertMethod(methods, "getIdentityRegistry()", "bc4d861b");
        _assertMethod(methods, "getLastIndex(uint256,address)", "f2d81759");
        _assertMethod(methods, "getResponseCount(uint256,address,uint64,address[])", "6e04cacd");
        _assertMethod(methods, "getSummary(uint256,address[],string,string)", "81bbba58");
        _assertMethod(methods, "getVersion()", "0d8e6e2c");
        _assertMethod(methods, "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)", "3c036a7e");
        _assertMethod(methods, "readAllFeedback(uint256,address[],string,string,bool)", "d9d84224");
        _assertMethod(methods, "readFeedback(uint256,address,uint64)", "232b0810");
        _assertMethod(methods, "revokeFeedback(uint256,uint64)", "4ab3ca99");
        assertEq(
            IOpenReputation.NewFeedback.selector, 0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc
        );
    }

    function test_ValidationFunctionsAreTheCanonicalOnes_R2() external view {
        string memory methods = _artifact("ValidationRegistry");
        _assertMethod(methods, "getAgentValidations(uint256)", "8d5d0c2d");
        _assertMethod(methods, "getIdentityRegistry()", "bc4d861b");
        _assertMethod(methods, "getSummary(uint256,address[],string)", "1b7cabd6");
        _assertMethod(methods, "getValidationStatus(bytes32)", "ff2febfc");
        _assertMethod(methods, "getValidatorRequests(address)", "4bf3158c");
        _assertMethod(methods, "getVersion()", "0d8e6e2c");
        _assertMethod(methods, "validationRequest(address,uint256,string,bytes32)", "aaf400c4");
        _assertMethod(methods, "validationResponse(bytes32,uint8,string,bytes32,string)", "3d659a96");
    }

    function test_ValidationTopicsAreTheCanonicalOnes_R2() external pure {
        assertEq(
            IValidation.ValidationRequest.selector, 0x530436c3634a98e1e626b0898be2f1e9980cc1bd2a78c07a0aba52d0a48a5059
        );
        assertEq(
            IValidation.ValidationResponse.selector, 0xafddf629e874ccc3963b6a888c477bd464a6c8525024fc88759ea3b2326349ae
        );
    }

    function test_WholeAbiIsTheCommittedOne_R2() external {
        _assertAbi("IdentityRegistry");
        _assertAbi("AuthorizedReputationRegistry");
        _assertAbi("ReputationRegistry");
        _assertAbi("ValidationRegistry");
    }

    function _assertMethod(string memory artifact, string memory signature, string memory selector) private pure {
        string memory path = string.concat(".methodIdentifiers['", signature, "']");
        assertEq(vm.parseJsonString(artifact, path), selector, signature);
    }

    function _assertAbi(string memory name) private {
        string memory golden = string.concat("contracts/abi/", name, ".json");
        string memory actual = _abiOf(_artifact(name));
        if (vm.envOr("CONCORD_BLESS", false)) vm.writeFile(golden, string.concat(actual, "\n"));
        assertEq(vm.readFile(golden), string.concat(actual, "\n"), name);
    }

    /// @dev The text between the artifact's first two keys, with one item a line.
    function _abiOf(string memory artifact) private pure returns (string memory) {
        string memory head = '{"abi":';
        assertEq(vm.indexOf(artifact, head), 0);
        string memory tail = vm.split(artifact, ',"bytecode":')[0];
        return vm.replace(vm.replace(tail, head, ""), '},{"type":', '},\n{"type":');
    }

    function _artifact(string memory name) private view returns (string memory) {
        return vm.readFile(string.concat("contracts/out/", name, ".sol/", name, ".json"));
    }
}
