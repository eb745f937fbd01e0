import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { callModel, type ModelRequest } from '../../../../api/agent/providers/call-model.js';
import { closeModelConnections } from '../../../../api/agent/providers/model-fetch.js';
import { ModelFailure } from '../../../../api/agent/providers/model-failure.js';
import { type Config, loadConfig } from '../../../../api/platform/config.js';
import { type ModelServer, startModelServer } from '../../../support/model-server.js';

// One call of a model in both wire formats, against a real server; and whatever a provider may do wrong.

const KEY = 'canary-key-93b1';
const PROMPT = 'canary-prompt-7f2c';
const FORMATS = ['anthropic', 'openai_compatible'] as const;

let model: ModelServer;
beforeAll(async () => {
  model = await startModelServer();
});
afterAll(async () => {
  await closeModelConnections();
  model.close();
});
beforeEach(() => {
  model.requests.length = 0;
  model.aborted = 0;
});

const buildConfig = (provider: string, more: Record<string, string> = {}): Config =>
  loadConfig({
    NODE_ENV: 'test',
    DATABASE_URL: 'postgresql://db/assent',
    DATA_DIR: '.data/test-models',
    AI_PROVIDER: provider,
    AI_MODEL: 'stand-in-1',
    AI_BASE_URL: model.url,
    AI_API_KEY: KEY,
    ...more,
  });

const request: ModelRequest = {
  prompt: [
    { role: 'system', content: 'Propose.' },
    { role: 'user', content: [{ type: 'text', text: PROMPT }] },
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'find', input: { text: 'x' } }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'find', output: { type: 'text', value: 'T1' } }],
    },
  ],
  tools: [
    {
      type: 'function',
      name: 'task_set_status',
      description: 'Sets a status',
      inputSchema: {
        type: 'object',
        properties: { task_id: { type: 'string' }, status: { enum: ['todo', 'done'] } },
        required: ['task_id', 'status'],
        additionalProperties: false,
      },
    },
  ],
};

/** Fails with a ModelFailure of this code, none of whose parts repeats the key, the prompt or the provider's words. */
async function expectFailure(config: Config, code: string): Promise<ModelFailure> {
  const thrown = await callModel(config, request).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(ModelFailure);
  const failure = thrown as ModelFailure;
  const everything = [failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)].join('\n');
  for (const words of [KEY, PROMPT, 'canary-words']) expect(everything).not.toContain(words);
  expect(failure.code).toBe(code);
  return failure;
}

describe.each(FORMATS)('%s', (provider) => {
  it('sends messages, tools and results, and reads text, calls and usage', async () => {
    model.script({
      text: 'Two changes',
      calls: [
        { name: 'task_set_status', input: { task_id: 'T1', status: 'done' } },
        { name: 'unknown_tool', input: {} },
      ],
      usage: { input: 321, output: 45 },
    });
    const answer = await callModel(buildConfig(provider), request);
    expect(answer).toMatchObject({ text: 'Two changes', inputTokens: 321, outputTokens: 45 });
    expect(answer.calls.map(({ name, input }) => [name, JSON.parse(input)])).toEqual([
      ['task_set_status', { task_id: 'T1', status: 'done' }],
      ['unknown_tool', {}],
    ]);
    const [sent] = model.requests;
    expect(model.requests).toHaveLength(1);
    expect(sent).toMatchObject({ model: 'stand-in-1', system: 'Propose.', maxTokens: 2000 });
    expect(sent?.path).toBe(provider === 'anthropic' ? '/v1/messages' : '/v1/chat/completions');
    expect(sent?.headers[provider === 'anthropic' ? 'x-api-key' : 'authorization']).toContain(KEY);
    expect(sent?.messages.flatMap(({ calls, results }) => [...calls, ...results])).toEqual([
      { id: 'c1', name: 'find', input: { text: 'x' } },
      { id: 'c1', output: 'T1' },
    ]);
    expect(sent?.tools).toEqual([
      {
        name: 'task_set_status',
        description: 'Sets a status',
        schema: expect.objectContaining(request.tools[0]?.inputSchema as object),
      },
    ]);
  });

  it('clamps the usage that a provider claims', async () => {
    model.script({ text: 'ok', usage: { input: 1e9, output: 1e9 } }, { text: 'ok', usage: { input: -5, output: -5 } });
    const greedy = await callModel(buildConfig(provider), request);
    expect(greedy.inputTokens).toBeLessThan(2_000);
    expect(greedy.outputTokens).toBe(2_000);
    expect(await callModel(buildConfig(provider), request)).toMatchObject({ inputTokens: 0, outputTokens: 0 });
  });

  it.each([
    ['429 with seconds', 429, { 'retry-after': '7' }, 'model_busy', 7_000],
    ['429 without', 429, {}, 'model_busy', null],
    ['500', 500, {}, 'model_busy', null],
    ['529', 529, { 'retry-after': '90' }, 'model_busy', 90_000],
    ['401', 401, {}, 'model_refused', null],
    ['403', 403, {}, 'model_refused', null],
    ['404', 404, {}, 'model_refused', null],
    ['400', 400, {}, 'model_too_long', null],
    ['413', 413, {}, 'model_too_long', null],
    ['a redirect', 307, { location: 'http://127.0.0.1:1/elsewhere' }, 'model_refused', null],
    ['a redirect without an address', 302, {}, 'model_refused', null],
  ])('maps %s to a code, after one request', async (_what, status, headers, code, waitMs) => {
    model.answer(({ raw, headers: sent }, response) => {
      const words = `canary-words ${raw} ${String(sent['x-api-key'] ?? sent.authorization)}`;
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify({ type: 'error', error: { type: 'error', message: words } }));
      return undefined;
    });
    const failure = await expectFailure(buildConfig(provider), code);
    expect(failure.waitMs).toBe(waitMs);
    expect(failure.isRetryable).toBe(code === 'model_busy');
    expect(model.requests).toHaveLength(1);
  });

  it('reads Retry-After as a date', async () => {
    model.answer((_seen, response) => {
      response.writeHead(503, { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() }).end('canary-words');
      return undefined;
    });
    const { waitMs } = await expectFailure(buildConfig(provider), 'model_busy');
    expect(waitMs).toBeGreaterThan(3_500_000);
  });

  const raw = (write: (response: ServerResponse) => void) => () => {
    model.answer((_seen, response) => {
      write(response);
      return undefined;
    });
  };
  it.each([
    [
      'HTML with 200',
      raw((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>canary-words')),
      'model_garbled',
    ],
    ['broken JSON', raw((response) => response.end('{"canary-words')), 'model_garbled'],
    ['other JSON', raw((response) => response.end('["canary-words"]')), 'model_garbled'],
    ['an empty body', raw((response) => response.end()), 'model_garbled'],
    [
      'a cut body',
      raw((response) => {
        response.writeHead(200, { 'content-length': '1000' }).write('{"canary-words');
        setTimeout(() => response.destroy(), 20);
      }),
      'model_unreachable',
    ],
    ['a closed connection', raw((response) => response.destroy()), 'model_unreachable'],
  ])('maps %s to a code', async (_what, prepare, code) => {
    prepare();
    await expectFailure(buildConfig(provider), code);
  });

  it('stops an answer of 40 MB at 4 MB', async () => {
    let sent = 0;
    model.answer((_seen, response) => {
      const chunk = Buffer.alloc(65_536, ' ');
      const pump = (): void => {
        while (sent < 40 * 1024 * 1024 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', pump);
        }
        response.end();
      };
      pump();
      return undefined;
    });
    await expectFailure(buildConfig(provider), 'model_garbled');
    // What the sockets' buffers took is more than the limit, and far less than all.
    expect(sent).toBeLessThan(20 * 1024 * 1024);
  });

  it('aborts when the caller does, and throws the reason', async () => {
    const stop = new AbortController();
    model.answer(() => {
      stop.abort(new Error('stopped'));
      return undefined;
    });
    await expect(callModel(buildConfig(provider), request, stop.signal)).rejects.toThrow('stopped');
    while (model.aborted === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('gives up on an answer without an end', async () => {
    model.answer((_seen, response) => void response.writeHead(200, { 'content-type': 'application/json' }).write('{'));
    const thrown = await callModel(buildConfig(provider), request, undefined, 100).catch((error: unknown) => error);
    expect(thrown).toMatchObject({ code: 'model_unreachable', isCharged: true });
    while (model.aborted === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('hides the key that a provider repeats', async () => {
    const said = `Your key is ${KEY}, or ${Buffer.from(KEY).toString('base64')}`;
    model.script({ text: said, calls: [{ name: 'task_comment', input: { task_id: 'T1', content: said } }] });
    const answer = await callModel(buildConfig(provider), request);
    expect(JSON.stringify(answer)).not.toMatch(/canary|Y2FuYXJ5/);
    expect(answer.text).toContain('[secret]');
  });

  it('maps a refused connection', async () => {
    const gone = createServer();
    gone.listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const failure = await expectFailure(
      buildConfig(provider, { AI_BASE_URL: `http://127.0.0.1:${port}/v1` }),
      'model_unreachable',
    );
    expect(failure).toMatchObject({ isRetryable: true, isCharged: false });
  });
});

it('estimates the usage that a provider does not report', async () => {
  model.script({ text: 'x'.repeat(300), usage: null });
  const answer = await callModel(buildConfig('openai_compatible'), request);
  expect(answer.outputTokens).toBe(100);
  expect(answer.inputTokens).toBeGreaterThan(100);
});

it('sends no key if there is none, and reads arguments that are no JSON as text', async () => {
  model.script({ calls: [{ name: 'task_set_status', input: '{"task_id": T1\ud800' }] });
  const config = { ...buildConfig('openai_compatible'), AI_API_KEY: undefined };
  const answer = await callModel(config, request);
  expect(answer.calls[0]?.input).toBe('{"task_id": T1\ufffd');
  expect(model.requests[0]?.headers.authorization).toBeUndefined();
});

it('keeps within the limits of an answer', async () => {
  const calls = Array.from({ length: 10_000 }, () => ({ name: 'task_set_status', input: { task_id: 'T1', status: 'done' } }));
  model.script({ text: `${'x'.repeat(7_999)}😀`, calls });
  const answer = await callModel(buildConfig('anthropic'), request);
  expect(answer.text).toHaveLength(8_000);
  expect(answer.text.isWellFormed()).toBe(true);
  expect(answer.calls).toHaveLength(60);
});
