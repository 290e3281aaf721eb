// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title IdentityProbe
/// @notice Plays scenarios on an identity registry and says what does not behave as the registries over it need (R1 to R3, R18). It is
/// created by `eth_call`, so that nothing of it stays: the answer in place of its code is a text, empty if all is well.
contract IdentityProbe {
    address private constant OTHER = address(uint160(uint256(keccak256("concord identity probe"))));
    uint256 private constant NO_AGENT = type(uint256).max;

    address private immutable IDENTITY;

    constructor(address identity) {
        IDENTITY = identity;
        bytes memory found = bytes(_play());
        assembly ("memory-safe") {
            return(add(found, 32), mload(found))
        }
    }

    function _play() private returns (string memory) {
        if (!_is("supportsInterface(bytes4)", bytes32(bytes4(0x01ffc9a7)), 1)) return "supportsInterface of ERC-165 is not true";
        if (!_is("supportsInterface(bytes4)", bytes32(bytes4(0x80ac58cd)), 1)) return "supportsInterface of ERC-721 is not true";
        if (!_is("supportsInterface(bytes4)", bytes32(bytes4(0xffffffff)), 0)) return "supportsInterface of 0xffffffff is not false";
        if (!_refuses(abi.encodeWithSignature("ownerOf(uint256)", NO_AGENT))) {
            return "ownerOf an unknown agent does not revert with ERC721NonexistentToken";
        }
        if (!_refuses(abi.encodeWithSignature("isAuthorizedOrOwner(address,uint256)", OTHER, NO_AGENT))) {
            return "isAuthorizedOrOwner of an unknown agent does not revert with ERC721NonexistentToken";
        }

        (bool ok, bytes memory answer) = IDENTITY.call(abi.encodeWithSignature("register()"));
        if (!ok || answer.length != 32) return "register() does not return an agent";
        uint256 agentId = abi.decode(answer, (uint256));
        if (!_owns(address(this), agentId)) return "ownerOf a new agent is not who registered it";
        if (!_is("getAgentWallet(uint256)", bytes32(agentId), uint160(address(this)))) return "getAgentWallet of a new agent is not its owner";
        if (!_authorizes(address(this), agentId, true)) return "isAuthorizedOrOwner of the owner is not true";
        if (!_authorizes(OTHER, agentId, false)) return "isAuthorizedOrOwner of a stranger is not false";

        if (!_does(abi.encodeWithSignature("approve(address,uint256)", OTHER, agentId))) return "approve reverts";
        if (!_authorizes(OTHER, agentId, true)) return "isAuthorizedOrOwner of the approved address is not true";
        if (!_does(abi.encodeWithSignature("approve(address,uint256)", address(0), agentId))) return "approve reverts";
        if (!_authorizes(OTHER, agentId, false)) return "isAuthorizedOrOwner stays true without the approval";
        if (!_does(abi.encodeWithSignature("setApprovalForAll(address,bool)", OTHER, true))) return "setApprovalForAll reverts";
        if (!_authorizes(OTHER, agentId, true)) return "isAuthorizedOrOwner of an operator is not true";
        if (!_does(abi.encodeWithSignature("setApprovalForAll(address,bool)", OTHER, false))) return "setApprovalForAll reverts";
        if (!_authorizes(OTHER, agentId, false)) return "isAuthorizedOrOwner stays true without the operator";

        bytes memory transfer = abi.encodeWithSignature("transferFrom(address,address,uint256)", address(this), OTHER, agentId);
        if (!_does(transfer)) return "transferFrom by the owner reverts";
        if (!_owns(OTHER, agentId)) return "ownerOf is not the new owner after a transfer";
        if (!_authorizes(address(this), agentId, false)) return "isAuthorizedOrOwner of the former owner is not false";
        if (!_is("getAgentWallet(uint256)", bytes32(agentId), 0)) return "getAgentWallet is not zero after a transfer";
        return "";
    }

    function _does(bytes memory input) private returns (bool ok) {
        (ok,) = IDENTITY.call(input);
    }

    /// @dev Whether a view with one argument answers this word.
    function _is(string memory signature, bytes32 argument, uint256 expected) private view returns (bool) {
        return _answers(abi.encodeWithSignature(signature, argument), expected);
    }

    function _owns(address owner, uint256 agentId) private view returns (bool) {
        return _answers(abi.encodeWithSignature("ownerOf(uint256)", agentId), uint160(owner));
    }

    function _authorizes(address spender, uint256 agentId, bool expected) private view returns (bool) {
        bytes memory input = abi.encodeWithSignature("isAuthorizedOrOwner(address,uint256)", spender, agentId);
        return _answers(input, expected ? 1 : 0);
    }

    function _answers(bytes memory input, uint256 expected) private view returns (bool) {
        (bool ok, bytes memory answer) = IDENTITY.staticcall(input);
        return ok && answer.length == 32 && abi.decode(answer, (uint256)) == expected;
    }

    /// @dev Whether the call reverts because there is no such agent.
    function _refuses(bytes memory input) private view returns (bool) {
        (bool ok, bytes memory answer) = IDENTITY.staticcall(input);
        bytes memory expected = abi.encodeWithSignature("ERC721NonexistentToken(uint256)", NO_AGENT);
        return !ok && keccak256(answer) == keccak256(expected);
    }
}
