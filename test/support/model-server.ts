import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// A stand-in for a model's provider: a real HTTP server that speaks both wire formats.

/** A message as either format sends it, reduced to what tests read. */
interface SeenMessage {
  role: string;
  text: string;
  calls: { id: string; name: string; input: unknown }[];
  /** Results of tools by the id of their call. */
  results: { id: string; output: string }[];
}

export interface SeenRequest {
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it was sent. */
  raw: string;
  model: string;
  system: string;
  messages: SeenMessage[];
  tools: { name: string; description: string; schema: Record<string, unknown> }[];
  maxTokens: unknown;
}

/** What the model says. `input` as text is sent as it is, valid JSON or not, where the format allows it. */
interface Said {
  text?: string;
  calls?: { name: string; input: object | string }[];
  /** Null: the provider reports none. */
  usage?: { input: number; output: number } | null;
}

/** Answers a request, or writes to the response itself and returns nothing. */
export type Answering = (request: SeenRequest, response: ServerResponse) => Said | undefined | Promise<Said | undefined>;

export interface ModelServer {
  /** Base URL for AI_BASE_URL. */
  url: string;
  requests: SeenRequest[];
  /** How the next requests are answered. */
  answer: (how: Answering) => void;
  /** Answers one request after another; the last one repeats. */
  script: (...said: Said[]) => void;
  /** Requests whose client closed the connection before the answer. */
  aborted: number;
  close: () => void;
}

type Json = Record<string, unknown>;
const list = (value: unknown): Json[] => (Array.isArray(value) ? (value as Json[]) : []);
const toText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        .join('\n');
const parsed = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text));
  } catch {
    return text;
  }
};

function readOpenAi(body: Json): Pick<SeenRequest, 'system' | 'messages' | 'tools'> {
  const all = list(body['messages']).map(
    ({ role, content, tool_calls, tool_call_id }): SeenMessage => ({
      role: String(role),
      text: role === 'tool' ? '' : toText(content),
      calls: list(tool_calls).map(({ id, function: named }) => {
        const { name, arguments: input } = named as { name: string; arguments: string };
        return { id: String(id), name, input: parsed(input) };
      }),
      results: role === 'tool' ? [{ id: String(tool_call_id), output: toText(content) }] : [],
    }),
  );
  return {
    system: all.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n'),
    messages: all.filter(({ role }) => role !== 'system'),
    tools: list(body['tools']).map(({ function: tool }) => {
      const { name, description, parameters } = tool as { name: string; description: string; parameters: Json };
      return { name, description, schema: parameters };
    }),
  };
}

function readAnthropic(body: Json): Pick<SeenRequest, 'system' | 'messages' | 'tools'> {
  const messages = list(body['messages']).map(({ role, content }): SeenMessage => {
    const parts = typeof content === 'string' ? [] : list(content);
    return {
      role: String(role),
      text: toText(content),
      calls: parts.flatMap(({ type, id, name, input }) =>
        type === 'tool_use' ? [{ id: String(id), name: String(name), input }] : [],
      ),
      results: parts.flatMap(({ type, tool_use_id, content: output }) =>
        type === 'tool_result' ? [{ id: String(tool_use_id), output: toText(output) }] : [],
      ),
    };
  });
  const tools = list(body['tools']).map(({ name, description, input_schema }) => ({
    name: String(name),
    description: String(description),
    schema: input_schema as Json,
  }));
  return { system: toText(body['system']), messages, tools };
}

let count = 0;
const nextId = (): string => `call_${(count += 1)}`;

function writeOpenAi({ text = '', calls = [], usage = { input: 100, output: 20 } }: Said): Json {
  const tool_calls = calls.map(({ name, input }) => ({
    id: nextId(),
    type: 'function',
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input) },
  }));
  const message = { role: 'assistant', content: text, ...(calls.length > 0 ? { tool_calls } : {}) };
  const finish_reason = calls.length > 0 ? 'tool_calls' : 'stop';
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'stand-in',
    choices: [{ index: 0, message, finish_reason }],
    ...(usage ? { usage: { prompt_tokens: usage.input, completion_tokens: usage.output } } : {}),
  };
}

function writeAnthropic({ text = '', calls = [], usage = { input: 100, output: 20 } }: Said): Json {
  const uses = calls.map(({ name, input }) => ({ type: 'tool_use', id: nextId(), name, input: parsed(JSON.stringify(input)) }));
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'stand-in',
    content: [...(text === '' ? [] : [{ type: 'text', text }]), ...uses],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: usage ? { input_tokens: usage.input, output_tokens: usage.output } : { input_tokens: 0, output_tokens: 0 },
  };
}

/** The parsed content of a request's `<data>` block. */
export function getEventData(request: SeenRequest): Json {
  const text = request.messages.map((message) => message.text).join('\n');
  const found = /<data n=([\w-]+)>\n?([\s\S]*?)\n?<\/data>/.exec(text);
  return JSON.parse(found?.[2] ?? '{}') as Json;
}

/** Starts the server on a free port. */
export async function startModelServer(): Promise<ModelServer> {
  let how: Answering = () => ({ text: 'Hello' });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('close', () => {
      if (!response.writableFinished) model.aborted += 1;
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks).toString();
      const body = (parsed(raw) ?? {}) as Json;
      const path = request.url ?? '';
      const isAnthropic = path.endsWith('/messages');
      const read = isAnthropic ? readAnthropic(body) : readOpenAi(body);
      const maxTokens = body['max_tokens'];
      const seen: SeenRequest = { path, headers: request.headers, raw, model: String(body['model']), maxTokens, ...read };
      model.requests.push(seen);
      void Promise.resolve(how(seen, response)).then((said) => {
        if (!said || response.destroyed) return;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(isAnthropic ? writeAnthropic(said) : writeOpenAi(said)));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const model: ModelServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: [],
    aborted: 0,
    answer(next) {
      how = next;
    },
    script(...said) {
      let at = 0;
      how = () => said[Math.min(at++, said.length - 1)];
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return model;
}
