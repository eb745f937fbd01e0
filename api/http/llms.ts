import type Koa from 'koa';
import { INSTRUCTIONS } from '../agent/mcp/serve.js';
import { TOOLS } from '../agent/mcp/tools.js';
import { type Config, isDevelopment, webAddress } from '../platform/config.js';
import type { RouteState } from '../platform/endpoint/route-state.js';
import { SUMMARY, TAGS } from './openapi-texts.js';

const PATH = '/llms.txt';

/** Files of `docs/guide` that an agent's author reads, by what they are about. */
const GUIDE = {
  'agents.md': 'an agent over MCP, or with a model',
  'requests.md': 'ask people before a program acts, and prove that they agreed',
  'commands.md': 'run a command once people have approved it',
  'gateway.md': 'a gate before other MCP servers',
  'events.md': 'follow changes as a list or a stream',
};

const list = (entries: [name: string, text: string][]): string => entries.map(([name, text]) => `- ${name}: ${text}`).join('\n');

/** Returns the page for language models (llmstxt.org): what the service is, and how an agent works with it. */
export function buildLlmsText(config: Config): string {
  const at = (path: `/${string}`): string => webAddress(config, path);
  const documents: [string, string][] = [
    [`[OpenAPI document](${at('/api/openapi.json')})`, 'every route, schema and error'],
    [`[API reference](${at('/api/redoc')})`, 'the same, to read'],
  ];
  const sections = [
    `# Assent\n\n> ${SUMMARY}`,
    'Every change that a machine wants to make can wait for the yes of a person. A personal access token, created under Account → Access tokens, is sent as `Authorization: Bearer …`; an agent gets one that is for outside agents only (`mcp_only`).',
    `## For agents\n\n${list([
      [`[MCP server](${at('/api/mcp')})`, 'the Model Context Protocol over Streamable HTTP'],
      [
        'Plans',
        'propose changes of work items with `propose_plan`, and give the person `confirm_url`; a plan changes nothing until it is confirmed',
      ],
      [
        'Change requests',
        'ask before any other act with `request_change`, or `POST /api/change-requests`; the approval is bound to exactly that act, and used once',
      ],
      ['Changes', '`GET /api/events` lists what has changed since a cursor, and streams it with `Accept: text/event-stream`'],
    ])}\n\n${INSTRUCTIONS}`,
    `## Tools of the MCP server\n\n${list(TOOLS.map(({ name, description }) => [`\`${name}\``, description]))}`,
    `## Areas of the API\n\n${list(Object.entries(TAGS))}`,
    ...(isDevelopment(config) ? [`## Documents\n\n${list(documents)}`] : []),
    `## Guide\n\nThe source of the service holds these pages:\n\n${list(
      Object.entries(GUIDE).map(([file, text]) => [`\`docs/guide/${file}\``, text]),
    )}`,
  ];
  return `${sections.join('\n\n')}\n`;
}

/** Serves the page for language models. It names nothing that a stranger may not know. */
export function mountLlms(app: Koa<RouteState>, config: Config): void {
  let text: string | undefined;
  app.use((ctx, next) => {
    if (ctx.path !== PATH || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return next();
    ctx.state.page = `GET ${PATH}`;
    ctx.type = 'text/plain; charset=utf-8';
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.body = text ??= buildLlmsText(config);
    return undefined;
  });
}
