import { Agent, fetch as send } from 'undici';
import { ModelFailure } from './model-failure.js';

/** Time for the whole call of a model, ms (docs/decisions/agent.md#model-requests). */
export const CALL_MS = 45_000;
/** Maximum size of an answer, bytes after decompression. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** Connections to the model of this process, opened with the first call. */
let agent: Agent | undefined;
const connections = (): Agent =>
  (agent ??= new Agent({
    connect: { timeout: 5_000 },
    headersTimeout: CALL_MS,
    bodyTimeout: CALL_MS,
    connections: 10,
    maxHeaderSize: 16_384,
  }));

/** Closes the connections, for the end of a process and for tests. */
export async function closeModelConnections(): Promise<void> {
  const closing = agent;
  agent = undefined;
  await closing?.destroy();
}

/** Counts the bytes of an answer, and breaks it off beyond the limit. */
const limited = (): TransformStream<Uint8Array, Uint8Array> => {
  let size = 0;
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength;
      if (size > MAX_ANSWER_BYTES) controller.error(new ModelFailure('model_garbled', { isCharged: true }));
      else controller.enqueue(chunk);
    },
  });
};

/**
 * `fetch` for the libraries of the providers: the operator's address only, no redirects, at most 4 MB. A status of a redirect is a refusal.
 * @throws ModelFailure, or the error of undici
 */
export const modelFetch: typeof fetch = async (input, init) => {
  const answer = await send(input as string, {
    ...(init as Parameters<typeof send>[1]),
    redirect: 'manual',
    dispatcher: connections(),
  });
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body?.cancel();
    throw new ModelFailure('model_refused');
  }
  const body = answer.body as ReadableStream<Uint8Array> | null;
  const headers = new Headers([...answer.headers]);
  return new Response(body?.pipeThrough(limited()) ?? null, { status: answer.status, headers });
};
