import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import type { Context } from '../../../../api/platform/context.js';
import { inTransaction } from '../../../../api/platform/context.js';
import { type MailData, MAIL_TEMPLATES, type Template } from '../../../../api/platform/mail/templates.js';
import { queueMail } from '../../../../api/platform/mail/queue-mail.js';
import { renderMail } from '../../../../api/platform/mail/render.js';
import { sendMails } from '../../../../api/platform/mail/send-mails.js';
import { smtpTransport } from '../../../../api/platform/mail/smtp.js';
import { startApp, type TestApp } from '../../../support/app.js';
import { type MailServer, startMailServer } from '../../../support/mail-server.js';

let app: TestApp;
let server: MailServer;
beforeAll(async () => {
  [app, server] = await Promise.all([startApp(), startMailServer()]);
});
afterAll(async () => {
  await server.close();
  await app.close();
});

const context = (): Context => {
  const requestId = uuidv7();
  const actor = { type: 'system', name: 'test' } as const;
  return { ...app.services, actor, requestId, correlationId: requestId, ip: null, userAgent: null };
};
let count = 0;
const queue = async (usefulMinutes?: number) => {
  count += 1;
  const to = `person${count}@test.example`;
  const data = { name: 'Ada <b>', code: '314159', minutes: 10 };
  const mail = { to, template: 'password-code' as const, data, ...(usefulMinutes === undefined ? {} : { usefulMinutes }) };
  return { to, mail_id: await inTransaction(context(), (ctx) => queueMail(ctx, mail)) };
};
const toRow = (mail_id: string) => app.services.db('mails').where({ mail_id }).first();
const makeDue = () =>
  app.services
    .db('mails')
    .where({ state: 'queued' })
    .update({ next_attempt_at: new Date(0) });

/** One pass of a dispatcher over a connection of its own. */
async function dispatch(url = server.url): Promise<number> {
  const smtp = smtpTransport({ ...app.services.config, MAIL_URL: url, MAIL_FROM: 'Assent <assent@mail.example>' });
  if (!smtp) throw new Error('no mail server');
  try {
    return await sendMails(app.services, smtp.send);
  } finally {
    smtp.close();
  }
}

beforeEach(async () => {
  server.behave('take');
  server.received.length = 0;
  await app.services.db('mails').delete();
});

describe('sending', () => {
  it('hands a mail over in text and HTML, and then forgets its words', async () => {
    const { to, mail_id } = await queue();
    expect((await toRow(mail_id)).sealed_data.toString('latin1')).not.toContain('314159');
    expect(await dispatch()).toBe(1);
    expect(server.received).toMatchObject([{ to: [to], messageId: `<${mail_id}@mail.example>` }]);
    const { message } = server.received[0] as { message: string };
    expect(message).toMatch(/^Subject: Your password reset code\r$/m);
    expect(message).toMatch(
      /Content-Type: text\/plain[\s\S]*314159[\s\S]*Content-Type: text\/html[\s\S]*Ada &lt;b&gt;[\s\S]*314159/,
    );
    expect(await toRow(mail_id)).toMatchObject({ state: 'sent', attempts: 1, sealed_data: null, sent_at: expect.any(Date) });
    expect(await dispatch()).toBe(0);
  });

  it.each(['notice', 'notices'] as const)(
    'sends a code before mail that other people cause, however long that waits: %s',
    async (template) => {
      const about = { name: 'Ada', url: 'https://assent.test/app' };
      const data = { ...about, title: 'Build', message: 'It is green', total: 1, messages: ['Bo mentioned you'] };
      for (let n = 0; n < 25; n += 1)
        await inTransaction(context(), (ctx) => queueMail(ctx, { to: `crowd${n}@test.example`, template, data }));
      await makeDue();
      const { mail_id } = await queue(10);
      expect(await dispatch()).toBe(10);
      expect((await toRow(mail_id)).state).toBe('sent');
      for (let n = 0; n < 2; n += 1) await dispatch();
      expect(await app.services.db('mails').whereNot({ state: 'sent' })).toEqual([]);
    },
  );

  it('belongs to the transaction of its cause', async () => {
    const undone = inTransaction(context(), async (ctx) => {
      await queueMail(ctx, { to: 'x@test.example', template: 'password-changed', data: { name: 'X' } });
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    expect(await app.services.db('mails')).toEqual([]);
  });

  it('sends each once under concurrent dispatchers', async () => {
    await Promise.all(Array.from({ length: 24 }, () => queue()));
    while ((await Promise.all([dispatch(), dispatch(), dispatch()])).some((tried) => tried > 0));
    expect(server.received).toHaveLength(24);
    expect(new Set(server.received.map(({ messageId }) => messageId)).size).toBe(24);
  });

  it.each([
    ['refuses the receiver for now', { code: 450, at: 'receiver' as const }],
    ['refuses the message for now', { code: 451, at: 'message' as const }],
  ])('a server that %s is tried again, later each time', async (_what, how) => {
    const { mail_id } = await queue();
    server.behave(how);
    await dispatch();
    const once = await toRow(mail_id);
    expect(once).toMatchObject({ state: 'queued', attempts: 1, last_error: expect.stringMatching(/refused by the test/) });
    expect(once.next_attempt_at.getTime()).toBeGreaterThan(Date.now());
    expect(await dispatch()).toBe(0);
    await makeDue();
    await dispatch();
    const twice = await toRow(mail_id);
    expect(twice.next_attempt_at.getTime() - Date.now()).toBeGreaterThan(once.next_attempt_at.getTime() - Date.now());
    server.behave('take');
    await makeDue();
    await dispatch();
    expect(await toRow(mail_id)).toMatchObject({ state: 'sent', attempts: 3, last_error: null });
  });

  it('nobody listening is a failed attempt like any other', async () => {
    const { mail_id } = await queue();
    const gone = await startMailServer();
    await gone.close();
    await dispatch(gone.url);
    expect(await toRow(mail_id)).toMatchObject({
      state: 'queued',
      attempts: 1,
      last_error: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  it('does not retry a permanent refusal, and shows it', async () => {
    const { mail_id } = await queue();
    server.behave({ code: 550, at: 'receiver' });
    await dispatch();
    expect(await toRow(mail_id)).toMatchObject({ state: 'failed', last_error: expect.stringMatching(/refused by the test/) });
    await makeDue();
    expect(await dispatch()).toBe(0);
  });

  it('a code that ran out is not sent, and neither is what failed for a day', async () => {
    const [code, old] = [await queue(10), await queue()];
    const past = new Date(Date.now() - 25 * 3_600_000);
    await app.services.db('mails').where({ mail_id: code.mail_id }).update({ useful_until: past });
    await app.services.db('mails').where({ mail_id: old.mail_id }).update({ created_at: past });
    await dispatch();
    expect(server.received).toEqual([]);
    expect(await toRow(code.mail_id)).toMatchObject({ state: 'failed', sealed_data: null });
    expect(await toRow(old.mail_id)).toMatchObject({ state: 'failed', sealed_data: expect.any(Buffer) });
  });

  it('a worker killed in the middle of it: another one sends the mail again, under the same Message-ID', async () => {
    const { mail_id } = await queue();
    server.behave('silent');
    const arrival = server.nextArrival();
    const child = spawn(process.execPath, [join(process.cwd(), 'dist/activities/worker.js')], {
      stdio: 'ignore',
      env: {
        ...process.env,
        NODE_ENV: 'development',
        DATABASE_URL: app.database.url,
        DATA_DIR: app.services.config.DATA_DIR,
        WORKER_METRICS_PORT: '0',
        TEMPORAL_ADDRESS: '127.0.0.1:1',
        WORKFLOW_BUNDLE: process.env['ASSENT_TEST_BUNDLE'],
        MAIL_URL: server.url,
        MAIL_FROM: 'Assent <assent@mail.example>',
      },
    });
    try {
      // No Temporal anywhere: mail needs none.
      await arrival;
    } finally {
      child.kill('SIGKILL');
    }
    await once(child, 'exit');
    expect(await toRow(mail_id)).toMatchObject({ state: 'queued', attempts: 1 });
    expect(await dispatch()).toBe(0);
    server.behave('take');
    await makeDue();
    expect(await dispatch()).toBe(1);
    expect(server.received.map(({ messageId }) => messageId)).toEqual([`<${mail_id}@mail.example>`, `<${mail_id}@mail.example>`]);
    expect(await toRow(mail_id)).toMatchObject({ state: 'sent', attempts: 2 });
  });
});

/** Everything that any letter asks for: a new one does not compile here until it has its sample. */
type Sample = { [T in Template]: (data: MailData<T>) => void }[Template] extends (data: infer D) => void ? D : never;

describe('letters', () => {
  it('nobody writes to strangers in our name: no link and no paragraph of theirs', () => {
    const bait = 'Acme\n\nYour account is blocked. Go to https://evil.example/login or evil.example';
    const data = {
      team: bait,
      by: bait,
      role: 'member',
      days: 7,
      url: 'https://ours.example/',
      name: bait,
      code: '314159',
      minutes: 10,
    };
    for (const template of ['team-invitation', 'sign-up-code']) {
      const { subject, text, html } = renderMail(template, data);
      for (const part of [subject, text, html]) expect(part).not.toMatch(/evil\.example|https:\/\/evil|\n\s*Your account/);
    }
    const from = { name: 'Eve', code: '314159', minutes: 10, ip: '10.0.0.1', device: 'see http://evil.example/' };
    expect(renderMail('login-code', from).text).not.toMatch(/evil\.example|http:\/\/evil/);
    expect(renderMail('password-changed', { name: bait }).text).not.toMatch(/\n\s*Your account/);
  });

  it('no code stands in a subject, and no line break gets into one', () => {
    const hostile = 'Eve\r\nBcc: all@test.example';
    const sample: Sample = {
      name: hostile,
      code: '314159',
      minutes: 10,
      ip: '10.0.0.1',
      device: 'curl',
      url: 'http://x/',
      on: true,
      team: hostile,
      by: hostile,
      role: 'member',
      days: 7,
      admin: hostile,
      from: 'noon',
      until: 'one',
      token: hostile,
      prefix: 'svc_pat_abcd...',
      at: 'noon',
      count: 2,
      held: 2,
      kinds: { message: 2 },
      automations: [hostile],
      subject: hostile,
      plans: [hostile],
      more: 1,
      title: hostile,
      message: hostile,
      total: 2,
      messages: [hostile],
    };
    for (const template of Object.keys(MAIL_TEMPLATES)) {
      const { subject, text, html } = renderMail(template, sample);
      expect(subject).not.toMatch(/314159|[\r\n]/);
      expect(html).toContain('<!doctype html>');
      expect(text.length).toBeGreaterThan(40);
    }
  });

  it('shows names of users as text, never as markup', () => {
    const { html } = renderMail('password-changed', { name: '<img src=x onerror=alert(1)>"&' });
    expect(html).toContain('Hello &lt;img src=x onerror=alert(1)&gt;&quot;&amp;,');
  });
});

describe('the development mailbox', () => {
  const get = (path: string) => fetch(`${app.url}${path}`);
  /** What a request under another name is answered with: `fetch` sets the host itself. */
  const statusAs = (host: string, path: string) =>
    new Promise((resolve, reject) => {
      const sent = request(`${app.url}${path}`, { headers: { host } }, (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode));
      });
      sent.on('error', reject).end();
    });

  it('GET /dev/mailbox.json lists what waits, newest first, of one receiver where asked', async () => {
    const [first, second] = [await queue(), await queue()];
    const all = (await (await get('/dev/mailbox.json')).json()) as { to: string }[];
    expect(all.map(({ to }) => to)).toEqual([second.to, first.to]);
    const one = (await (await get(`/dev/mailbox.json?to=${first.to.toUpperCase()}`)).json()) as object[];
    expect(one).toEqual([
      {
        to: first.to,
        subject: 'Your password reset code',
        text: expect.stringContaining('314159'),
        sent_at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
    ]);
  });

  it.each(['evil.test', 'evil.test:3000', 'localhost.evil.test', '127.0.0.1.evil.test', '10.0.0.1', 'a b'])(
    'refuses the host %s: another site’s name may lead to this machine',
    async (host) => {
      for (const path of ['/dev/mailbox', '/dev/mailbox.json', '/dev/mailbox/019a9f00-0000-7000-8000-000000000001']) {
        expect(await statusAs(host, path)).not.toBe(200);
      }
    },
  );

  it.each(['localhost', 'LOCALHOST:3000', '127.0.0.1:3000', '[::1]:3000'])('answers the host %s', async (host) => {
    expect(await statusAs(host, '/dev/mailbox.json')).toBe(200);
  });

  it('GET /dev/mailbox shows them under a policy that runs nothing, each mail in a sandbox', async () => {
    const { mail_id } = await queue();
    const page = await get('/dev/mailbox');
    const text = await page.text();
    expect(text).toContain(`src="/dev/mailbox/${mail_id}"`);
    expect(text).toMatch(/<iframe [^>]*sandbox="allow-popups /);
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    const mail = await get(`/dev/mailbox/${mail_id}`);
    expect(await mail.text()).toContain('Ada &lt;b&gt;');
    expect(mail.headers.get('content-security-policy')).toMatch(/^sandbox .*default-src 'none'/);
    expect((await get('/dev/mailbox/garbage')).status).toBe(404);
    expect(await (await get('/dev/mailbox?to=%22%3E%3Cscript%3E')).text()).not.toContain('<script');
  });

  it('does not exist in production', async () => {
    const { listMails } = await import('../../../../api/platform/mail/list-mails.js');
    const production = { ...app.services, config: { ...app.services.config, NODE_ENV: 'production' as const } };
    await expect(listMails(production)).rejects.toMatchObject({ status: 404 });
    const { createApp } = await import('../../../../api/http/app.js');
    const { createServer } = await import('node:http');
    const other = createServer((request, response) => void createApp(production).callback()(request, response)).listen(
      0,
      '127.0.0.1',
    );
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    for (const path of ['/dev/mailbox', '/dev/mailbox.json', '/dev/mailbox.css', `/dev/mailbox/${uuidv7()}`])
      expect((await fetch(`http://127.0.0.1:${port}${path}`)).status).toBe(404);
    other.closeAllConnections();
    other.close();
  });
});
