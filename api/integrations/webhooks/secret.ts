import { randomBytes } from 'node:crypto';
import { redactSecrets } from '../../platform/http-client/redact-secrets.js';
import {
  decryptEnvelope,
  encryptEnvelope,
  type EncryptedEnvelope,
  type EncryptionConfig,
} from '../../platform/crypto/encryption.js';

/** As the libraries of Standard Webhooks take it: the prefix, then the key in base64. */
const PREFIX = 'whsec_';
const KEY_BYTES = 32;

/** Returns a new signing secret of an endpoint, as its owner sees it once. */
export const newWebhookSecret = (): string => `${PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`;

/** Characters after the prefix that records show. */
const SHOWN = 4;

/** Returns the beginning of a secret, by which its owner recognizes it. */
export const prefixOfSecret = (secret: string): string => `${secret.slice(0, PREFIX.length + SHOWN)}...`;

/** Encrypts a signing secret for the row of its endpoint. */
export const sealWebhookSecret = (config: EncryptionConfig, webhookId: string, secret: string): EncryptedEnvelope =>
  encryptEnvelope(config, webhookId, secret);

/**
 * Decrypts a signing secret. Only the dispatcher may call this: the value never reaches a record, a log or a metric.
 * @throws as `decryptField`
 */
export const openWebhookSecret = (config: EncryptionConfig, webhookId: string, sealed: EncryptedEnvelope): string =>
  decryptEnvelope(config, webhookId, sealed);

/** Returns a text without these secrets, with or without their prefix, in any encoding. A shorter text than a key is left as it is. */
export const withoutWebhookSecrets = (secrets: readonly string[], text: string, isCut: boolean): string =>
  text.length < KEY_BYTES
    ? text
    : redactSecrets(
        secrets.map((secret) => secret.slice(PREFIX.length)),
        text,
        isCut,
      );

/** Returns the signing key of a secret. */
export const keyOfSecret = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64');
