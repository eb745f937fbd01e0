import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { givePasswords } from '../api/web/browser.js';
import { PASSWORD } from '../factories/accounts.js';
import { buildTeam, type TestTeam } from '../factories/people.js';
import { startApp, type TestApp } from '../support/app.js';
import { CHROMIUM_ARGUMENTS, obtainChromium } from '../../scripts/embedded/chromium.mjs';

/** Starts the machine's Chromium, or the one that npm brought along. @throws StartError where there is neither: no test is skipped */
export async function launch(): Promise<Browser> {
  return chromium.launch({ ...(await obtainChromium()), args: CHROMIUM_ARGUMENTS });
}

export interface Window {
  page: Page;
  /** What the console complained of, and what the policy of the pages refused. */
  complaints: string[];
  close: () => Promise<void>;
}

/** A browser window of its own, with what went wrong in it. An answer that is no success is no complaint: pages for it exist. */
export async function openWindow(browser: Browser, baseURL: string, options: BrowserContextOptions = {}): Promise<Window> {
  const context = await browser.newContext({ baseURL, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    const isStatus = message.text().startsWith('Failed to load resource: the server responded with a status of 4');
    if (['error', 'warning'].includes(message.type()) && !isStatus) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`a dialog opened: ${dialog.message()}`);
    void dialog.dismiss();
  });
  return { page, complaints, close: () => context.close() };
}

/** Signs a person in by the form, with the password of all test accounts. */
export async function signInPage(page: Page, email: string): Promise<void> {
  await page.goto('/app/sign-in');
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', PASSWORD);
  await page.press('[name=password]', 'Enter');
  await page.waitForURL('/app');
}

export interface SignedIn {
  app: TestApp;
  team: TestTeam;
  browser: Browser;
  window: Window;
  page: Page;
  /** Closes all of them. */
  end: () => Promise<void>;
}

/** Starts an application with a team, and opens a window in which the member of the team has signed in. */
export async function startSignedIn(): Promise<SignedIn> {
  const app = await startApp({ LOGIN_OTP: 'off' });
  const team = await buildTeam(app);
  await givePasswords(app);
  const browser = await launch();
  const end = async (): Promise<void> => {
    await browser.close();
    await app.close();
  };
  const window = await openWindow(browser, app.url);
  await signInPage(window.page, team.member.email);
  return { app, team, browser, window, page: window.page, end };
}

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What another size or scheme of the same page may change. */
const LOOKS = ['color-contrast', 'target-size', 'scrollable-region-focusable'];

/**
 * What axe finds wrong with the page as it stands; put in from outside, where the page’s own policy does not reach. `looks`: a page
 * that was judged before, in another size or scheme.
 */
export async function findFaults(page: Page, looks = false): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>(
    `axe.run(document, ${JSON.stringify({ runOnly: looks ? LOOKS : STANDARDS })})`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}
