import { audienceRows, operationRows, peopleRows, textRows, timeRows, useRows } from './receipt-cases/claims.js';
import { compareRows } from './receipt-cases/compare.js';
import { type Call, decode, issue, OPTIONS } from './receipt-cases/forge.js';
import { headerRows, keyRows, spellingRows } from './receipt-cases/form.js';

/**
 * What an attacker may try with a receipt, between the service that signs it and the one that executes. `npm run client` writes the cases as
 * `clients/receipt-cases.json`, which the verifier of every language runs. Keys, ids and time are fixed, and Ed25519 signs the same text
 * to the same bytes, so the file changes only with the product.
 */

export interface ReceiptCase {
  name: string;
  /** These share one memory of what was used. */
  calls: Call[];
}

/** Makes the cases, the same ones each time. */
async function makeReceiptCases(): Promise<ReceiptCase[]> {
  const receipt = await issue();
  const [head, body] = receipt.split('.');
  const parts = { receipt, header: decode(head), claims: decode(body) };
  const rows = [
    ...(await textRows(parts)),
    ...operationRows(parts),
    ...(await compareRows(parts)),
    ...(await useRows(parts)),
    ...timeRows(parts),
    ...(await audienceRows(parts)),
    ...(await peopleRows(parts)),
    ...headerRows(parts),
    ...keyRows(parts),
    ...spellingRows(parts),
  ];
  return rows.map(([name, ...calls]) => ({ name, calls }));
}

/** Returns the text of the file of cases. */
export const receiptCasesText = async (): Promise<string> =>
  `${JSON.stringify({ options: OPTIONS, cases: await makeReceiptCases() }, null, 1)}\n`;
