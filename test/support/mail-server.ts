import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

interface Received {
  to: string[];
  /** The message as it came: headers, then the parts. */
  message: string;
  messageId: string;
}

export interface MailServer {
  url: string;
  received: Received[];
  /** What it says to the next messages: take them, refuse each with this code, or say nothing at all. */
  behave: (how: 'take' | 'silent' | { code: number; at: 'receiver' | 'message' }) => void;
  /** Resolves when the next message has arrived in full, whatever is said to it. */
  nextArrival: () => Promise<void>;
  close: () => Promise<void>;
}

const refusal = (code: number) => Object.assign(new Error('refused by the test'), { responseCode: code });

/** A real mail server on a free port, for whatever sends mail. */
export async function startMailServer(port = 0): Promise<MailServer> {
  const received: Received[] = [];
  let how: Parameters<MailServer['behave']>[0] = 'take';
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    logger: false,
    onRcptTo: (_address, _session, done) =>
      done(typeof how === 'object' && how.at === 'receiver' ? refusal(how.code) : undefined),
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const message = Buffer.concat(chunks).toString();
        const messageId = /^Message-ID: (.*)\r$/im.exec(message)?.[1] ?? '';
        for (const resolve of waiting.splice(0)) resolve();
        if (typeof how === 'object') return done(refusal(how.code));
        received.push({ to: envelope.rcptTo.map(({ address }) => address), message, messageId });
        if (how === 'take') done();
      });
    },
  });
  server.on('error', () => undefined);
  const listener = server.listen(port, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    received,
    behave(next) {
      how = next;
    },
    nextArrival: () => new Promise((resolve) => void waiting.push(resolve)),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
