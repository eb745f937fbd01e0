import { get, type IncomingMessage } from 'node:http';
import type { LiveEvent } from '../../api/identity/live/schema.js';
import type { TestApp } from './app.js';
import { until } from './worker.js';

/** Waits until what was written so far is past for a new reader: transactions of other tests on the same server hold it back. */
export async function untilPast({ services: { db } }: TestApp): Promise<void> {
  await until(async () => {
    const { rows } = await db.raw<{ rows: { is_past: boolean }[] }>(
      'select not exists (select from live_changes where xid >= pg_snapshot_xmin(pg_current_snapshot())) as is_past',
    );
    return rows[0]?.is_past;
  });
}

export interface StreamClient {
  status: number;
  headers: IncomingMessage['headers'];
  /** Events so far. */
  events: LiveEvent[];
  /** The newest `id`, as a browser sends it when it connects again. */
  lastEventId: () => string | undefined;
  /** Text of an answer that is no stream. */
  body: () => string;
  hasEnded: () => boolean;
  /** Waits until so many events have come. */
  waitFor: (count: number) => Promise<LiveEvent[]>;
  close: () => void;
  response: IncomingMessage;
}

/** Reads a stream as a browser would, without connecting again. */
export async function openEvents(url: string, headers: Record<string, string>, lastEventId?: string): Promise<StreamClient> {
  const request = get(url, {
    agent: false,
    headers: { accept: 'text/event-stream', ...headers, ...(lastEventId ? { 'last-event-id': lastEventId } : {}) },
  });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.once('error', reject);
  });
  const events: LiveEvent[] = [];
  let id: string | undefined;
  let text = '';
  let body = '';
  let ended = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    body += chunk;
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() as string;
    for (const block of blocks) {
      id = /^id: (.*)$/m.exec(block)?.[1] ?? id;
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) events.push(JSON.parse(data) as LiveEvent);
    }
  });
  const end = (): void => {
    ended = true;
  };
  response.on('end', end);
  response.on('error', end);
  response.on('close', end);
  request.on('error', end);
  return {
    status: response.statusCode as number,
    headers: response.headers,
    events,
    lastEventId: () => id,
    body: () => body,
    hasEnded: () => ended,
    async waitFor(count) {
      await until(async () => events.length >= count).catch((cause: unknown) => {
        const state = ended ? 'ended' : 'is open';
        throw new Error(`${events.length} of ${count} events came, and the stream ${state}`, { cause });
      });
      return events;
    },
    close: () => request.destroy(),
    response,
  };
}
