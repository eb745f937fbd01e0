/** The conversation with the agent in a browser with scripts: an answer that comes later shows by itself. */
import type { Browser } from 'playwright-core';
import { answerByRules } from '../../api/agent/turns/answer-by-rules.js';
import { givePasswords } from '../api/web/browser.js';
import { buildSession, staged } from '../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { until } from '../support/worker.js';
import { findFaults, launch, openWindow, signInPage } from './chromium.js';

import.meta.jest.setTimeout(180_000);

let app: TestApp;
let browser: Browser | undefined;
beforeAll(async () => {
  app = await startApp();
  browser = await launch();
});
afterAll(async () => {
  await browser?.close();
  await app.close();
});

it('an answer shows without a reload, what is typed meanwhile stays, and a stop ends the wait', async () => {
  const { db } = app.services;
  const details = JSON.stringify({ temporal: true });
  await db('heartbeats').insert({ process: 'worker:test', seen_at: new Date(Date.now() + 600_000), details });
  const team = await buildTeam(app);
  await givePasswords(app);
  const { task_id: item_id } = await buildTask(app, team, await buildProject(app, team), { title: 'Login 500' });
  const { session_id } = await buildSession(app, team.member);
  await db('agent_links').insert({ session_id, item_type: 'task', item_id, linked_by: team.member.user_id });
  const { page, complaints, close } = await openWindow(browser as Browser, app.url, { viewport: { width: 390, height: 844 } });
  await signInPage(page, team.member.email);
  await page.goto(`/app/agent/${session_id}`);

  await page.click('button:has-text("close Login 500")');
  await page.waitForSelector('text=The agent is working on your message');
  const faults = await findFaults(page);
  await page.fill('#f-message', 'and then');
  const { message_id: messageId } = await until(() => db('agent_turns').where({ session_id }).first());
  await answerByRules(app.services, { messageId, incarnation: 1, execution: 'first' });
  await page.waitForSelector('article.plan');
  expect(await page.inputValue('#f-message')).toBe('and then');
  expect(await page.locator('text=The agent is working').count()).toBe(0);

  await page.click('button:has-text("Send")');
  await page.click('button:has-text("Stop")');
  await page.waitForSelector('text=Stopped. Nothing was changed.');
  await page.click('button:has-text("Confirm")');
  await page.waitForSelector('text=Applied 1 of 1');
  expect((await db('tasks').where({ task_id: item_id }).first()).status).toBe('done');
  expect([...faults, ...complaints]).toEqual([]);
  await close();
});

it('Enter sends a message, Shift with it adds a line, and one that ends a composition sends nothing', async () => {
  const team = await buildTeam(app);
  await givePasswords(app);
  const { session_id } = await buildSession(app, team.member);
  const { page, complaints, close } = await openWindow(browser as Browser, app.url);
  await signInPage(page, team.member.email);
  const sent = () => app.services.db('agent_messages').where({ session_id, role: 'user' }).orderBy('position').pluck('content');
  await page.goto(`/app/agent/${session_id}`);
  expect(await page.textContent('#enter-message')).toBe('Enter sends, Shift Enter adds a line.');
  await page.click('#f-message');
  await page.keyboard.press('Enter');
  await page.keyboard.type('what is');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('overdue?');
  for (const ending of ['isComposing: true', 'keyCode: 229'])
    await page.evaluate(
      `document.getElementById('f-message').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, ${ending} }))`,
    );
  expect(await sent()).toEqual([]);
  await page.keyboard.press('Enter');
  await until(async () => (await sent()).length === 1);
  await page.goto(`/app/agent/${session_id}`);
  await page.fill('#f-message', 'help');
  await page.keyboard.press('Control+Enter');
  await until(async () => (await sent()).length === 2);
  await page.goto('/app/agent');
  await page.fill('#f-message', 'what is due today?');
  await page.press('#f-message', 'Enter');
  await page.waitForURL('**/app/agent/*#last');
  expect(await sent()).toEqual(['what is\noverdue?', 'help']);
  expect(complaints).toEqual([]);
  await close();
});

/** A talk of forty messages; the plan of the eighth from the end waits. */
async function buildTalk(team: TestTeam) {
  const { task_id } = await buildTask(app, team, await buildProject(app, team), { title: 'Login 500' });
  const session = await buildSession(app, team.member);
  const { action_id } = await staged(
    app,
    team.member,
    [{ tool: 'task.update', params: { status: 'done' }, entity_id: task_id }],
    {
      session,
    },
  );
  const rows = Array.from({ length: 40 }, (_, n) => ({
    session_id: session.session_id,
    role: n % 2 === 0 ? 'user' : 'assistant',
    content: `Message ${n}\nand what it says`,
    action_id: n === 31 ? action_id : null,
    created_at: new Date(Date.now() - (40 - n) * 60_000),
  }));
  await app.services.db('agent_messages').insert(rows);
  return { path: `/app/agent/${session.session_id}`, action_id };
}

it.each([true, false])(
  'a long talk opens at its newest message, and at the plan that was decided; scripts: %s',
  async (scripts) => {
    const team = await buildTeam(app);
    const { path, action_id } = await buildTalk(team);
    await givePasswords(app);
    const options = { viewport: { width: 390, height: 844 }, javaScriptEnabled: scripts };
    const { page, complaints, close } = await openWindow(browser as Browser, app.url, options);
    /** Whether the element is on the screen, between the header and the navigation. */
    const isSeen = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox();
      const header = await page.locator('header.top').boundingBox();
      return box !== null && header !== null && box.y >= header.y + header.height && box.y + Math.min(box.height, 100) < 844;
    };
    await signInPage(page, team.member.email);

    await page.goto('/app/agent');
    await page.click('main ul.rows a');
    await page.waitForURL(`**${path}#last`);
    const newest = 'ol.talk > li:last-child';
    expect(await isSeen(newest)).toBe(true);
    if (scripts) {
      await page.goto('/app/agent');
      await page.goto(path);
      await until(() => isSeen(newest));
    }

    await page.locator(`#plan-${action_id} button:has-text("Confirm")`).click();
    await page.waitForURL(`**${path}#plan-${action_id}`);
    expect([await isSeen('.notice'), await isSeen(`#plan-${action_id} header`)]).toEqual([true, true]);
    expect(await page.locator('.notice').allTextContents()).toEqual([expect.stringContaining('Applied 1 of 1 changes')]);
    expect(await page.locator(`#plan-${action_id} .notice`).count()).toBe(1);
    if (scripts) expect([...(await findFaults(page)), ...complaints]).toEqual([]);

    await page.locator(`#plan-${action_id} button:has-text("Undo")`).click();
    await page.waitForURL((url) => url.hash.startsWith('#plan-') && url.hash !== `#plan-${action_id}`);
    expect([await isSeen('.notice'), await isSeen(`article.plan:has(.notice) header`)]).toEqual([true, true]);
    await close();
  },
);
