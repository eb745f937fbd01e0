// What @peculiar/x509 leaves to its caller.
import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

export interface Certificate {
  cert: string;
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

export interface Authority extends Certificate {
  /** Signs a certificate for this host name, or for a client that is called so. */
  sign: (name: string) => Promise<Certificate>;
}

const pemOfKey = async (key: webcrypto.CryptoKey): Promise<string> =>
  x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

/** A certificate authority of the test's own, made in memory: no openssl, no files that could expire. */
export async function createAuthority(name: string): Promise<Authority> {
  x509.cryptoProvider.set(webcrypto as never);
  const generate = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;
  const keys = await generate();
  const lifetime = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
  const issuer = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    ...lifetime,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  let serial = 1;
  return {
    cert: issuer.toString('pem'),
    key: await pemOfKey(keys.privateKey),
    async sign(subject) {
      const own = await generate();
      serial += 1;
      const signed = await x509.X509CertificateGenerator.create({
        serialNumber: serial.toString(16).padStart(2, '0'),
        subject: `CN=${subject}`,
        issuer: issuer.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        ...lifetime,
        extensions: [
          new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: subject }]),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
        ],
      });
      return { cert: signed.toString('pem'), key: await pemOfKey(own.privateKey) };
    },
  };
}
