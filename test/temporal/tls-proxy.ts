import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { Certificate } from './certificates.js';

export interface TlsProxy {
  port: number;
  /** The `authorization` of every call so far; undefined for those without. */
  authorizations: Set<string | undefined>;
  /** Names that clients asked for in their greeting (SNI). */
  serverNames: Set<string>;
  /** Handshakes that one side broke off. */
  refused: () => number;
  close: () => Promise<void>;
}

/** Carries one gRPC call to the server behind: headers, messages and trailers, in both directions. */
function carry(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, upstream: ClientHttp2Session): void {
  const call = upstream.request(headers, { endStream: false });
  let trailers: IncomingHttpHeaders = {};
  call.on('response', (answer) => {
    stream.respond(answer, { waitForTrailers: true });
    call.on('trailers', (sent) => (trailers = sent));
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    call.pipe(stream);
  });
  stream.pipe(call);
  stream.on('close', () => call.close());
  stream.on('error', () => call.close());
  call.on('error', () => stream.close());
}

/**
 * Terminates TLS in front of a Temporal server that speaks plain HTTP/2, on a port of 127.0.0.1, and sees what each call carries.
 * With `clientAuthority` (PEM) it takes only clients with a certificate that this authority signed.
 */
export async function startTlsProxy(target: string, server: Certificate, clientAuthority?: string): Promise<TlsProxy> {
  const upstream = connect(`http://${target}`);
  upstream.on('error', () => undefined);
  const authorizations = new Set<string | undefined>();
  const serverNames = new Set<string>();
  const sockets = new Set<Socket>();
  let refused = 0;
  const proxy = createSecureServer({
    ...server,
    allowHTTP1: false,
    ...(clientAuthority === undefined ? {} : { ca: clientAuthority, requestCert: true, rejectUnauthorized: true }),
    SNICallback(name, done) {
      serverNames.add(name);
      done(null);
    },
  });
  proxy.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  proxy.on('tlsClientError', () => (refused += 1));
  proxy.on('sessionError', () => undefined);
  proxy.on('stream', (stream, headers) => {
    authorizations.add(headers.authorization);
    carry(stream, headers, upstream);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as AddressInfo).port,
    authorizations,
    serverNames,
    refused: () => refused,
    async close() {
      const closed = once(proxy, 'close');
      proxy.close();
      for (const socket of sockets) socket.destroy();
      upstream.destroy();
      await closed;
    },
  };
}
