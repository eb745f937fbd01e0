import { OutboundFailure } from '../../../platform/http-client/failure.js';
import type { OutboundPolicy } from '../../../platform/http-client/policy.js';
import { redactSecrets } from '../../../platform/http-client/redact-secrets.js';
import { type OutboundResponse, sendRequest } from '../../../platform/http-client/send-request.js';
import { withVisibleNames } from '../../../platform/validation/invisible.js';

/** Time of one message, ms. */
const TIMEOUT_MS = 15_000;
/** Bytes of one answer. */
const MAX_BYTES = 1024 * 1024;
/** UTF-16 units of a server's own words in an error. */
const MAX_WORDS = 500;
/** Levels of objects and lists in an answer; deeper ones would overflow recursive readers. */
const MAX_DEPTH = 64;
/** The newest version of the protocol that begins with `initialize`. */
const VERSION = '2025-11-25';
/** The first version without `initialize`: each message says who sends it. */
const STATELESS_VERSION = '2026-07-28';
/** Code of the protocol for a version that the server does not speak. */
const UNSUPPORTED_VERSION = -32_022;
const CLIENT = { name: 'assent', title: 'Assent', version: '1.0.0' };
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': STATELESS_VERSION,
  'io.modelcontextprotocol/clientInfo': CLIENT,
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A call to another MCP server that gave no result. `mayHaveArrived`: the server may have performed it. */
export class UpstreamFailure extends Error {
  override readonly name = 'UpstreamFailure';
  constructor(
    readonly reason: string,
    message: string,
    readonly mayHaveArrived: boolean,
  ) {
    super(message);
  }
}

/** A message of JSON-RPC as another server sends it. */
interface Message {
  id?: unknown;
  method?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: { supported?: unknown } };
}

/** Whether a server refuses `initialize` because it speaks only versions without it. */
const isStatelessOnly = (answers: readonly Message[]): boolean =>
  answers.some(({ error }) => {
    const supported = error?.code === UNSUPPORTED_VERSION ? error.data?.supported : undefined;
    return Array.isArray(supported) && supported.includes(STATELESS_VERSION);
  });

/** Returns a text as a header may hold it: in base64 as the protocol has it, unless it is plain. */
const toHeader = (text: string): string =>
  /^(?!=\?base64\?)[!-~]([ -~]*[!-~])?$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** A message of ours. */
interface Sent {
  jsonrpc: '2.0';
  id?: number;
  method: string;
  params?: { name?: string };
}

const askedBack = (): UpstreamFailure =>
  new UpstreamFailure('asked_back', 'The server asked a question, which the gateway does not answer', true);

const isShallow = (value: unknown, left = MAX_DEPTH): boolean =>
  typeof value !== 'object' || value === null || (left > 0 && Object.values(value).every((item) => isShallow(item, left - 1)));

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** Returns the messages of an answer: JSON, or an event stream. */
function readMessages({ body, headers }: OutboundResponse): Message[] {
  const isStream = headers['content-type']?.startsWith('text/event-stream') === true;
  const texts = isStream
    ? body.split(/\r?\n\r?\n/).map((event) =>
        event
          .split(/\r?\n/)
          .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
          .join('\n'),
      )
    : [body];
  return texts.flatMap((text) => {
    const message = parse(text);
    const isMessage = typeof message === 'object' && message !== null && !Array.isArray(message) && isShallow(message);
    return isMessage ? [message as Message] : [];
  });
}

/**
 * A session with another MCP server over Streamable HTTP, in the versions with `initialize` or, where the server has only those, without. It opens no
 * stream of its own and declares no capability; a question of the server ends the call. One at a time.
 */
export class UpstreamSession {
  private sessionId: string | undefined;
  private version: string | undefined;
  private isStateless = false;
  private nextId = 1;

  constructor(
    private readonly policy: OutboundPolicy,
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly secrets: ReadonlySet<string>,
  ) {}

  /** Returns a text of the server without the secrets that it was sent. */
  redact(text: string, isCut = false): string {
    return redactSecrets(this.secrets, text, isCut);
  }

  /** Begins the session. @throws UpstreamFailure */
  async open(): Promise<void> {
    const asked = { protocolVersion: VERSION, capabilities: {}, clientInfo: CLIENT };
    const answer = await this.exchange('initialize', asked).catch((error: unknown) => {
      if (error instanceof UpstreamFailure && error.reason === 'stateless') return undefined;
      throw error;
    });
    this.isStateless = answer === undefined;
    if (!answer) return;
    const { protocolVersion } = answer;
    this.version = typeof protocolVersion === 'string' ? protocolVersion : VERSION;
    await this.post({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  /** Sends a request; a session that the server has forgotten is begun once more. Returns its result. @throws UpstreamFailure */
  async request(method: string, params: object): Promise<Record<string, unknown>> {
    try {
      return await this.exchange(method, params);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || error.reason !== 'session_gone') throw error;
      this.sessionId = undefined;
      this.version = undefined;
      await this.open();
      return this.exchange(method, params);
    }
  }

  private async exchange(method: string, params: object): Promise<Record<string, unknown>> {
    const id = this.nextId;
    this.nextId += 1;
    const sent = this.isStateless ? { ...params, _meta: ENVELOPE } : params;
    const response = await this.post({ jsonrpc: '2.0', id, method, params: sent });
    if (response.isCut) throw new UpstreamFailure('answer_too_long', 'The server’s answer is longer than 1 MB', true);
    const messages = readMessages(response);
    const asks = messages.some((message) => message.method !== undefined && message.id !== undefined);
    const answer = messages.find((message) => message.id === id && message.method === undefined);
    if (asks && !answer) throw askedBack();
    if (answer?.error) {
      const { message } = answer.error;
      const words = typeof message === 'string' ? this.redact(message.slice(0, MAX_WORDS), message.length > MAX_WORDS) : '';
      if (method === 'initialize' && isStatelessOnly([answer]))
        throw new UpstreamFailure('stateless', 'The server has no sessions', false);
      throw new UpstreamFailure(
        'refused',
        `The server refused the call: ${withVisibleNames(words) || 'without a message'}`,
        true,
      );
    }
    if (typeof answer?.result !== 'object' || answer.result === null)
      throw new UpstreamFailure('answer_invalid', 'The server’s answer is no message of the protocol', true);
    const { resultType, ...result } = answer.result as Record<string, unknown>;
    if (resultType !== undefined && resultType !== 'complete') throw askedBack();
    return result;
  }

  /** Returns the headers that the version asks for. */
  private versionHeaders({ method, params }: Sent): Record<string, string> {
    if (this.isStateless)
      return {
        'mcp-protocol-version': STATELESS_VERSION,
        'mcp-method': method,
        ...(params?.name !== undefined && { 'mcp-name': toHeader(params.name) }),
      };
    return {
      ...(this.version !== undefined && { 'mcp-protocol-version': this.version }),
      ...(this.sessionId !== undefined && { 'mcp-session-id': this.sessionId }),
    };
  }

  private async post(message: Sent): Promise<OutboundResponse> {
    const response = await sendRequest(this.policy, {
      method: 'POST',
      url: this.url,
      headers: {
        'user-agent': 'Assent',
        ...this.headers,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...this.versionHeaders(message),
      },
      body: JSON.stringify(message),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      wanted: ['content-type', 'mcp-session-id'],
    }).catch((thrown: unknown) => {
      if (thrown instanceof OutboundFailure) throw new UpstreamFailure(thrown.reason, thrown.message, thrown.mayHaveArrived);
      throw thrown;
    });
    const { status, headers } = response;
    if (status === 404 && this.sessionId !== undefined)
      throw new UpstreamFailure('session_gone', 'The server has forgotten the session', false);
    if (status === 400 && message.method === 'initialize' && isStatelessOnly(readMessages(response)))
      throw new UpstreamFailure('stateless', 'The server has no sessions', false);
    if (status < 200 || status >= 300) throw new UpstreamFailure('http_status', `The server returned ${status}`, status >= 500);
    const { 'mcp-session-id': sessionId } = headers;
    // Without sessions nothing is begun anew, so that no call is sent twice.
    if (!this.isStateless && sessionId !== undefined && sessionId.length <= 1_000) this.sessionId = sessionId;
    return response;
  }
}
