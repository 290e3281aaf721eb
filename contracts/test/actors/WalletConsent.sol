// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @dev What a new wallet signs. The digest is put together from published constants: nothing here comes from
/// contracts/src.
struct WalletConsent {
    uint256 agentId;
    address newWallet;
    address owner;
    uint256 deadline;
}

using WalletConsentForms for WalletConsent global;

library WalletConsentForms {
    // keccak256 of the type strings, as the deployed canonical registry has them.
    bytes32 private constant DOMAIN_TYPEHASH = 0x8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f;
    bytes32 private constant CONSENT_TYPEHASH = 0x678b53cd718d595370ab070ebf48edfdcd834beac116bf23e625fc7f4d5b7d32;

    function digest(WalletConsent memory consent, uint256 chainId, address verifyingContract)
        internal
        pure
        returns (bytes32)
    {
        return digestIn(consent, "ERC8004IdentityRegistry", "1", chainId, verifyingContract);
    }

    function digestIn(
        WalletConsent memory consent,
        string memory name,
        string memory version,
        uint256 chainId,
        address verifyingContract
    ) internal pure returns (bytes32) {
        bytes32 domainSeparator = keccak256(
            bytes.concat(
                DOMAIN_TYPEHASH,
                keccak256(bytes(name)),
                keccak256(bytes(version)),
                bytes32(chainId),
                _word(verifyingContract)
            )
        );
        return keccak256(bytes.concat(hex"1901", domainSeparator, structHash(consent)));
    }

    function structHash(WalletConsent memory consent) internal pure returns (bytes32) {
        return keccak256(
            bytes.concat(
                CONSENT_TYPEHASH,
                bytes32(consent.agentId),
                _word(consent.newWallet),
                _word(consent.owner),
                bytes32(consent.deadline)
            )
        );
    }

    function _word(address account) private pure returns (bytes32) {
        return bytes32(uint256(uint160(account)));
    }
}
