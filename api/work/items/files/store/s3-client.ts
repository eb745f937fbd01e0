import { setTimeout as sleep } from 'node:timers/promises';
import { type Readable } from 'node:stream';
import { AwsV4Signer } from 'aws4fetch';
import { Agent, type Dispatcher, request } from 'undici';
import { unavailable } from '../../../../platform/errors.js';

export interface S3Settings {
  /** Such as `https://s3.eu-central-1.amazonaws.com`. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

export interface S3Request {
  method: 'GET' | 'PUT' | 'DELETE';
  /** Empty for the bucket itself. */
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  /** Opens the body anew for each attempt. */
  body?: { size: number; sha256: string; open: () => Readable };
  /** Statuses that the caller understands. */
  expected: number[];
}

const ATTEMPTS = 3;
const FIRST_DELAY_MS = 200;
/** Longest silence of the store, ms. */
const TIMEOUT_MS = 30_000;
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const MAX_ERROR_LENGTH = 500;

const isTemporary = (status: number): boolean => status >= 500 || status === 429 || status === 408;

/** Sends signed requests (AWS Signature Version 4) to a bucket, addressed by path as every compatible store accepts it. */
export class S3Client {
  private readonly agent = new Agent({
    connect: { timeout: 5_000 },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    keepAliveTimeout: 4_000,
  });

  constructor(private readonly settings: S3Settings) {}

  private async attempt({ method, key, query = {}, headers = {}, body }: S3Request): Promise<Dispatcher.ResponseData> {
    const { endpoint, bucket, ...credentials } = this.settings;
    const url = new URL(`${endpoint.replace(/\/+$/, '')}/${bucket}${key === '' ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': body?.sha256 ?? EMPTY_SHA256 },
      service: 's3',
      ...credentials,
    });
    const signed = await signer.sign();
    return request(signed.url, {
      method,
      headers: { ...Object.fromEntries(signed.headers), ...(body && { 'content-length': String(body.size) }) },
      ...(body && { body: body.open() }),
      dispatcher: this.agent,
    });
  }

  /**
   * Sends a request, up to three times if the store fails. The caller reads or dumps the body of the response.
   * @throws INTERNAL_ERROR 503 unreachable, or a status that is not expected
   */
  async send(call: S3Request): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt += 1) {
      let problem: unknown;
      let isFinal = attempt === ATTEMPTS;
      try {
        const response = await this.attempt(call);
        if (call.expected.includes(response.statusCode)) return response;
        const text = (await response.body.text()).slice(0, MAX_ERROR_LENGTH);
        problem = new Error(`The object store answered ${call.method} with ${response.statusCode}: ${text}`);
        isFinal ||= !isTemporary(response.statusCode);
      } catch (error) {
        problem = error;
      }
      if (isFinal) throw unavailable(problem);
      await sleep(FIRST_DELAY_MS * 2 ** (attempt - 1));
    }
  }
}
