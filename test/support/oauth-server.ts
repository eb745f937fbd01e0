import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CLIENT = { id: 'assent-test', secret: 'canary-client-secret' };

interface Grant {
  login: string;
  scope: string;
}
interface Code extends Grant {
  challenge: string;
  redirectUri: string;
}
interface Fault {
  status: number;
  body?: string;
  headers?: Record<string, string>;
}
interface Written {
  path: string;
  login: string;
  title?: string;
  body: string;
  id: number;
  at: string;
}

export interface OAuthServer {
  url: string;
  /** Settings of the product that point here. */
  settings: Record<string, string>;
  /** Who is signed in there, and what they allow; null: they say no. `scope` undefined: what is asked for. */
  person: { login: string; scope?: string } | null;
  /** Seconds that tokens are good for; undefined: for ever. */
  expiresIn: number | undefined;
  /** What happens to the next write, once: a status instead of it, the write without an answer, or with one that says that it failed. */
  next: number | 'lost' | 'denied' | undefined;
  /** What whoever asks for tokens, for the account, or for what was written hears instead, in this order. */
  faults: { tokens: Fault[]; user: Fault[]; list: Fault[]; repository: Fault[] };
  /** Repositories there by `owner/name` in lower case: what they are called, who reads them and who may push. */
  repositories: Map<string, { full_name: string; readers: string[]; writers: string[] }>;
  written: Written[];
  /** How often tokens were renewed, and refused to be. */
  refreshed: number;
  refused: number;
  /** Tokens that were taken back by our client. */
  revoked: string[];
  revokeAll: () => void;
  close: () => void;
}

const token = (kind: string): string => `canary-${kind}-${randomBytes(12).toString('hex')}`;
async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
const json = (response: ServerResponse, status: number, value: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

/** A real OAuth server and API on a free port, speaking as the forge does: codes are good once, PKCE is checked, refresh tokens rotate. */
export async function startOAuthServer(): Promise<OAuthServer> {
  const codes = new Map<string, Code>();
  const access = new Map<string, Grant>();
  const renewals = new Map<string, Grant>();
  let ids = 1;

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const redirectUri = query.get('redirect_uri') ?? '';
    if (query.get('client_id') !== CLIENT.id || query.get('code_challenge_method') !== 'S256') return json(response, 400, {});
    const back = new URL(redirectUri);
    back.searchParams.set('state', query.get('state') ?? '');
    if (state.person) {
      const code = token('code');
      const { login, scope = query.get('scope') ?? '' } = state.person;
      codes.set(code, { login, scope, redirectUri, challenge: query.get('code_challenge') ?? '' });
      back.searchParams.set('code', code);
    } else back.searchParams.set('error', 'access_denied');
    response.writeHead(302, { location: back.href }).end();
  }

  function issue(response: ServerResponse, grant: Grant): void {
    const [accessToken, refreshToken] = [token('access'), token('refresh')];
    access.set(accessToken, grant);
    renewals.set(refreshToken, grant);
    const expiry = state.expiresIn === undefined ? {} : { expires_in: state.expiresIn, refresh_token: refreshToken };
    json(response, 200, { access_token: accessToken, token_type: 'bearer', scope: grant.scope.replaceAll(' ', ','), ...expiry });
  }

  function giveTokens(form: URLSearchParams, response: ServerResponse): void {
    // As GitHub does it: 200, and the error inside.
    const refuse = () => {
      state.refused += 1;
      json(response, 200, { error: 'bad_verification_code', error_description: form.toString() });
    };
    if (form.get('client_id') !== CLIENT.id || form.get('client_secret') !== CLIENT.secret) return refuse();
    if (form.get('grant_type') === 'refresh_token') {
      const key = form.get('refresh_token') ?? '';
      const grant = renewals.get(key);
      renewals.delete(key);
      if (!grant) return refuse();
      state.refreshed += 1;
      return issue(response, grant);
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (!code || code.redirectUri !== form.get('redirect_uri') || code.challenge !== challenge) return refuse();
    issue(response, code);
  }

  function write(path: string, grant: Grant, text: string, response: ServerResponse): void {
    const how = state.next;
    state.next = undefined;
    if (typeof how === 'number') return json(response, how, { message: `refused: ${text}` });
    const { title, body } = JSON.parse(text) as { title?: string; body: string };
    const id = ids++;
    state.written.push({
      path,
      login: grant.login,
      ...(title === undefined ? {} : { title }),
      body,
      id,
      at: new Date().toISOString(),
    });
    if (how === 'lost') return void response.destroy();
    if (how === 'denied') return json(response, 500, { message: 'Server Error' });
    json(response, 201, { id, number: id, html_url: `https://forge.test${path}/${id}`, body });
  }

  /** As GitHub deletes an app's token: the client proves itself, and one that is not known is a 404. */
  function revokeGrant(request: IncomingMessage, text: string, response: ServerResponse): void {
    const how = state.next;
    state.next = undefined;
    if (typeof how === 'number') return json(response, how, { message: `refused: ${text}` });
    const [client, secret] = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64')
      .toString()
      .split(':');
    if (client !== CLIENT.id || secret !== CLIENT.secret) return json(response, 401, { message: 'Bad credentials' });
    const { access_token: gone } = JSON.parse(text) as { access_token: string };
    const grant = access.get(gone);
    if (!grant) return json(response, 404, { message: 'Not Found' });
    access.delete(gone);
    for (const [key, each] of renewals) if (each === grant) renewals.delete(key);
    state.revoked.push(gone);
    response.writeHead(204).end();
  }

  function fail(response: ServerResponse, faults: Fault[]): boolean {
    const fault = faults.shift();
    if (fault)
      response.writeHead(fault.status, { 'content-type': 'text/html', ...fault.headers }).end(fault.body ?? '<h1>Sorry</h1>');
    return fault !== undefined;
  }

  /** What was written to a path, oldest first, page by page. */
  function list({ pathname, searchParams }: URL, response: ServerResponse): void {
    if (fail(response, state.faults.list)) return;
    const since = searchParams.get('since') ?? '';
    const [size, page] = [Number(searchParams.get('per_page') ?? 30), Number(searchParams.get('page') ?? 1)];
    const listed = state.written.filter(({ path, at }) => path === pathname && at >= since).slice((page - 1) * size, page * size);
    const shown = listed.map(({ id, body, path }) => ({ id, number: id, body, html_url: `https://forge.test${path}/${id}` }));
    json(response, 200, shown);
  }

  /** As GitHub says what a repository is called and what the asking account may do; to strangers it is not there. */
  function repository(path: string, { login }: Grant, response: ServerResponse): void {
    if (fail(response, state.faults.repository)) return;
    const found = state.repositories.get(path.toLowerCase());
    if (!found || ![...found.readers, ...found.writers].includes(login)) return json(response, 404, { message: 'Not Found' });
    const { full_name } = found;
    const renamed = full_name.toLowerCase() !== path.toLowerCase();
    if (renamed) response.setHeader('location', `${state.url}/repositories/1`);
    const permissions = { admin: false, push: found.writers.includes(login), pull: true };
    json(response, renamed ? 301 : 200, { id: 1, full_name, permissions });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', 'http://here');
    const text = await readBody(request);
    if (url.pathname === '/login/oauth/authorize') return authorize(url.searchParams, response);
    if (url.pathname === '/login/oauth/access_token' && fail(response, state.faults.tokens)) return;
    if (url.pathname === '/login/oauth/access_token') return giveTokens(new URLSearchParams(text), response);
    if (request.method === 'DELETE' && url.pathname === `/applications/${CLIENT.id}/token`)
      return revokeGrant(request, text, response);
    const grant = access.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    if (!grant) return json(response, 401, { message: `Bad credentials ${request.headers.authorization}` });
    if (url.pathname === '/user' && fail(response, state.faults.user)) return;
    if (url.pathname === '/user') return json(response, 200, { login: grant.login });
    const [, asked] = /^\/repos\/([^/]+\/[^/]+)$/.exec(url.pathname) ?? [];
    if (asked !== undefined) return repository(asked, grant, response);
    if (request.method === 'POST') return write(url.pathname, grant, text, response);
    list(url, response);
  }

  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state: OAuthServer = {
    url,
    settings: { FORGE_URL: url, FORGE_API_URL: url, FORGE_CLIENT_ID: CLIENT.id, FORGE_CLIENT_SECRET: CLIENT.secret },
    person: { login: 'octo-ada' },
    expiresIn: undefined,
    next: undefined,
    faults: { tokens: [], user: [], list: [], repository: [] },
    repositories: new Map(),
    written: [],
    refreshed: 0,
    refused: 0,
    revoked: [],
    revokeAll() {
      access.clear();
      renewals.clear();
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return state;
}
