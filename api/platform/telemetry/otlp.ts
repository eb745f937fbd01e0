import { Agent, request } from 'undici';

/** Time for one request, ms. */
const TIMEOUT_MS = 10_000;
/** Characters of a text value. */
const MAX_VALUE = 200;
/** Bytes of a response that are read. */
const MAX_RESPONSE = 64 * 1024;

export type OtlpAttributes = Readonly<Record<string, string | number | undefined>>;

/** Nanoseconds as text: a number cannot hold them. */
export const toNanos = (ms: number): string =>
  `${Math.floor(ms)}${Math.floor((ms % 1) * 1_000_000)
    .toString()
    .padStart(6, '0')}`;

const toValue = (value: string | number): object => {
  if (typeof value === 'string') return { stringValue: value.slice(0, MAX_VALUE).toWellFormed() };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
};

/** Returns the attributes in the form of OTLP/JSON, without those that are undefined. */
export const toAttributes = (attributes: OtlpAttributes): object[] =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : { key, value: toValue(value) }));

const readHeaders = (pairs = ''): Record<string, string> =>
  Object.fromEntries(
    pairs
      .split(',')
      .filter((pair) => pair !== '')
      .map((pair) => [pair.slice(0, pair.indexOf('=')).trim(), decodeURIComponent(pair.slice(pair.indexOf('=') + 1).trim())]),
  );

/** Sends OTLP/JSON to a collector over one connection. */
export class OtlpSender {
  private readonly url: string;
  private readonly headers: Record<string, string>;
  private readonly agent = new Agent({ connections: 1, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

  /** `path`: of the signal, such as /v1/traces. `headers`: name=value pairs separated by commas, values percent-encoded. */
  constructor(endpoint: string, path: string, headers: string | undefined) {
    this.url = `${endpoint.replace(/\/+$/, '')}${path}`;
    this.headers = { ...readHeaders(headers), 'content-type': 'application/json' };
  }

  /**
   * Sends one request; returns the response as text, at most 64 kB of it.
   * @throws Error of the connection, or for a status of 300 and above
   */
  async send(body: object): Promise<string> {
    const response = await request(this.url, {
      dispatcher: this.agent,
      method: 'POST',
      headers: this.headers,
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      length += chunk.length;
      if (length > MAX_RESPONSE) break;
      chunks.push(chunk);
    }
    if (response.statusCode >= 300) throw new Error(`The collector returned ${response.statusCode}`);
    return Buffer.concat(chunks).toString();
  }

  /** Also ends a request that is still under way. */
  close(): Promise<void> {
    return this.agent.destroy();
  }
}
