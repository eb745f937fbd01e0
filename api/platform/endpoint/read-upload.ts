import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { Config } from '../config.js';
import { DomainError, invalid, invalidFields } from '../errors.js';

/** The file part of a form. Its bytes arrive while they are read; the last chunk comes only after the whole form was found valid. */
export interface IncomingFile {
  /** As the client sent it, path and all. */
  filename: string;
  /** As the client declared it: `type/subtype` in lower case. */
  contentType: string;
  /** @throws PAYLOAD_TOO_LARGE | VALIDATION_ERROR for what follows the file | INVALID_REQUEST incomplete (400) or too slow (408) */
  bytes: AsyncIterable<Buffer>;
}

/** A form up to the head of its file part. */
export interface Upload {
  fields: Record<string, string>;
  file: IncomingFile;
  /** Discards what was not read, so that the client can read the response. Call it in any case. */
  close: () => void;
}

export interface UploadLimits {
  /** Maximum bytes of the file part. */
  maxBytes: number;
  /** Time for the whole form, ms. */
  timeoutMs: number;
}

/** Node ends every request after this time, ms: later than an upload ends itself, whose response says why. */
export const requestTimeoutMs = ({ FILE_UPLOAD_SECONDS }: Config): number => (FILE_UPLOAD_SECONDS + 15) * 1000;

/** Name of the file part. */
const FILE_PART = 'file';
/** Bytes of a form beside the file: boundaries, part headers and fields. */
const MAX_OVERHEAD = 64 * 1024;
const MAX_FIELD_BYTES = 1024;
/** Bytes of a file that may arrive while earlier ones are written. */
const READ_AHEAD = 256 * 1024;
const PARTS = { fields: 16, files: 2, parts: 20, fieldSize: MAX_FIELD_BYTES, headerPairs: 16, headerSize: 8 * 1024 };

const BOUNDARY = /^multipart\/form-data\s*;(?:.*;)?\s*boundary=(?:"[^"]{1,70}"|[^";\s]{1,70})\s*(?:;|$)/i;

const tooLarge = (maxBytes: number) => new DomainError('PAYLOAD_TOO_LARGE', `The file exceeds ${maxBytes} bytes`);
const incomplete = (cause?: unknown) => invalid('The request body is incomplete', { cause });
const malformed = (message: string, cause?: unknown) => {
  const error = invalidFields([{ field: 'body', message, type: 'multipart_invalid' }]);
  error.cause = cause;
  return error;
};
const badPart = (name: string, message: string, type: string) =>
  invalidFields([{ field: `body.${name.slice(0, 64)}`, message, type }]);
const timedOut = () =>
  invalid('The request took too long', {
    status: 408,
    detail: 'Nothing was stored. Send the file over a faster connection.',
    headers: { Connection: 'close' },
  });

/** @throws UNSUPPORTED_MEDIA_TYPE for anything but an uncompressed form | VALIDATION_ERROR no boundary | PAYLOAD_TOO_LARGE as announced */
function checkHead({ headers }: IncomingMessage, maxBytes: number): void {
  const type = headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(type) || headers['content-encoding'] !== undefined)
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', 'Send multipart/form-data without Content-Encoding');
  if (!BOUNDARY.test(type)) throw malformed('The Content-Type needs a boundary of 1 to 70 characters');
  if (Number(headers['content-length'] ?? 0) > maxBytes + MAX_OVERHEAD) throw tooLarge(maxBytes);
}

/** A promise with its functions. Nobody has to wait for it. */
function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

/** @throws VALIDATION_ERROR the Content-Type has no boundary after all */
function createParser({ headers }: IncomingMessage): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] as string },
      // A part without a file name is a field, whatever its type.
      isPartAFile: (_name, _type, filename) => filename !== undefined,
      preservePath: true,
      fileHwm: READ_AHEAD,
      limits: PARTS,
    });
  } catch (error) {
    throw malformed('The Content-Type needs a boundary of 1 to 70 characters', error);
  }
}

/** One form being read: the first error ends it, and the rest of the request is then discarded within bounds. */
class UploadReader {
  private readonly fields = new Map<string, string>();
  private readonly head = deferred<Upload>();
  private readonly end = deferred<void>();
  private readonly parser: InstanceType<typeof Busboy>;
  private source: Readable | undefined;
  private hasEnded = false;
  private hasFailed = false;
  private received = 0;

  constructor(
    private readonly request: IncomingMessage,
    private readonly limits: UploadLimits,
  ) {
    this.parser = createParser(request);
  }

  /** Reads up to the head of the file part. */
  read(): Promise<Upload> {
    const { parser, request } = this;
    parser.on('field', (name, value, _nameCut, isCut) => this.addField(name, value, isCut));
    parser.on('file', (name, bytes, filename, _encoding, type) => this.addFile(name, bytes, filename, type));
    for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
      parser.on(limit, () => this.fail(malformed('The form has too many parts')));
    parser.on('error', (error) => this.fail(malformed('The form is not valid multipart/form-data', error)));
    parser.on('finish', () => this.finish());
    request.on('data', (chunk: Buffer) => this.count(chunk.length));
    request.on('error', (error) => this.fail(incomplete(error)));
    const { socket } = request;
    const timer = setTimeout(() => this.exceed(timedOut()), this.limits.timeoutMs);
    const close = () => {
      clearTimeout(timer);
      socket.off('close', close);
      if (!request.complete) this.fail(incomplete());
    };
    // After the response Node no longer tells the request that its connection has closed.
    request.on('close', close);
    socket.on('close', close);
    if (request.destroyed) this.fail(incomplete());
    else request.pipe(parser);
    return this.head.promise;
  }

  private addField(name: string | undefined, value: string, isCut: boolean): void {
    if (name === undefined) return;
    if (name === FILE_PART) this.fail(badPart(name, 'file must be a file part, with a file name', 'not_a_file'));
    else if (this.source) this.fail(badPart(name, `${name.slice(0, 64)} must come before the file`, 'out_of_order'));
    else if (this.fields.has(name)) this.fail(badPart(name, `${name.slice(0, 64)} is given twice`, 'custom'));
    else if (isCut) this.fail(badPart(name, `${name.slice(0, 64)} is longer than ${MAX_FIELD_BYTES} bytes`, 'too_big'));
    else this.fields.set(name, value);
  }

  private addFile(name: string | undefined, bytes: Readable, filename: string, contentType: string): void {
    // The part's error comes with the parser's own.
    bytes.on('error', () => undefined);
    if (this.source || name !== FILE_PART || this.hasFailed) {
      bytes.resume();
      if (name === FILE_PART) this.fail(badPart(name, 'Send one file in one request', 'duplicate'));
      else this.fail(badPart(name ?? '', 'The file part must be named file', 'unknown_file'));
      return;
    }
    this.source = bytes;
    this.head.resolve({
      fields: Object.fromEntries(this.fields),
      file: { filename, contentType, bytes: this.readChunks(bytes) },
      close: () => this.close(),
    });
  }

  private async *readChunks(source: Readable): AsyncGenerator<Buffer> {
    let size = 0;
    try {
      for await (const chunk of source as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > this.limits.maxBytes) throw tooLarge(this.limits.maxBytes);
        yield chunk;
      }
      await this.end.promise;
    } finally {
      this.close();
    }
  }

  private finish(): void {
    if (!this.source) return this.fail(badPart(FILE_PART, 'file is required', 'required'));
    this.hasEnded = true;
    this.end.resolve();
  }

  private count(bytes: number): void {
    this.received += bytes;
    const { maxBytes } = this.limits;
    if (this.received <= maxBytes + MAX_OVERHEAD) return;
    this.received = 0;
    this.exceed(tooLarge(maxBytes));
  }

  /** Ends a form that exceeds a limit, or the connection if the client sends on after the form was read or refused. */
  private exceed(error: DomainError): void {
    if (this.hasFailed || this.hasEnded) this.request.socket.destroy();
    else this.fail(error);
  }

  private fail(error: Error): void {
    if (this.hasFailed || this.hasEnded) return;
    this.hasFailed = true;
    this.request.unpipe(this.parser);
    this.end.reject(error);
    this.head.reject(error);
    this.source?.destroy(error);
    // A connection closed with unread bytes is reset, and the client loses the response.
    this.request.resume();
  }

  private close(): void {
    this.fail(new Error('The rest of the form was not read'));
  }
}

/**
 * Reads a multipart/form-data body with one file part named `file`; fields come before it. Resolves at the file's first byte, so that
 * the fields can be checked before the file is read (docs/decisions/platform.md#file-uploads). At no time is more in memory than a few chunks.
 * @throws UNSUPPORTED_MEDIA_TYPE | PAYLOAD_TOO_LARGE | VALIDATION_ERROR | INVALID_REQUEST incomplete (400) or too slow (408)
 */
export async function readUpload(request: IncomingMessage, limits: UploadLimits): Promise<Upload> {
  checkHead(request, limits.maxBytes);
  return new UploadReader(request, limits).read();
}
