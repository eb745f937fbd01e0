import { z } from 'zod';
import type { OutboundAction } from '../../../gate/contract/action-type.js';
import { Text } from '../../../platform/fields.js';
import { isAway, parseJson, noAnswer } from '../call-service.js';
import type { Provider } from '../provider.js';
import { GrantRefused } from '../request-tokens.js';
import { callForge, NEEDS, Repository } from './call-forge.js';
import { revokeOnForge } from './revoke-on-forge.js';
import { writeOnForge } from './write-on-forge.js';

/** GitHub's maximum length of an issue or a comment. */
const Body = Text.max(65_000);

const Comment = z.object({ repo: Repository, number: z.int().min(1), body: Body.min(1) });
const forgeComment: OutboundAction<z.output<typeof Comment>> = {
  type: 'forge_comment',
  label: 'Comment on an issue or pull request',
  category: 'integration',
  integration: NEEDS,
  params: Comment,
  send(context, { repo, number, body }) {
    const path = `/repos/${repo}/issues/${number}/comments`;
    return writeOnForge(forge, context, {
      path,
      list: path,
      fields: { body },
      show: ({ id, html_url }) => ({ id, url: html_url }),
    });
  },
};

const Issue = z.object({ repo: Repository, title: Text.trim().min(1).max(256), body: Body });
const forgeCreateIssue: OutboundAction<z.output<typeof Issue>> = {
  type: 'forge_create_issue',
  label: 'Open an issue',
  category: 'integration',
  integration: NEEDS,
  params: Issue,
  send(context, { repo, title, body }) {
    const path = `/repos/${repo}/issues`;
    return writeOnForge(forge, context, {
      path,
      list: `${path}?state=all`,
      fields: { title, body },
      show: ({ number, html_url }) => ({ number, url: html_url }),
    });
  },
};

const Account = z.object({ login: z.string().min(1).max(200) });

/** The code host: GitHub, or a compatible one at the configured addresses. */
export const forge: Provider = {
  key: 'forge',
  label: 'Code host',
  scopes: NEEDS.scopes,
  settings({ FORGE_URL, FORGE_CLIENT_ID, FORGE_CLIENT_SECRET }) {
    if (!FORGE_CLIENT_ID || !FORGE_CLIENT_SECRET) return undefined;
    const base = FORGE_URL.replace(/\/$/, '');
    return {
      authorizeUrl: `${base}/login/oauth/authorize`,
      tokenUrl: `${base}/login/oauth/access_token`,
      clientId: FORGE_CLIENT_ID,
      clientSecret: FORGE_CLIENT_SECRET,
    };
  },
  async account(config, token) {
    const answer = await callForge(config, token, 'GET', '/user');
    if (isAway(answer)) throw noAnswer(answer);
    const account = Account.safeParse(parseJson(answer));
    if (!account.success) throw new GrantRefused('The code host does not say whose token it is');
    return account.data.login;
  },
  revoke: revokeOnForge,
  actions: [forgeComment, forgeCreateIssue],
};
