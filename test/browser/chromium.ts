import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const executablePath = PLACES.find((path) => path && existsSync(path));

/** `describe`, or a skip that says why where this machine has no Chromium. */
export const describeInBrowser = executablePath ? describe : describe.skip;
if (!executablePath) process.stderr.write('No Chromium found: the browser tests are skipped. CHROMIUM_PATH names one.\n');

const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: executablePath as string, args: ARGUMENTS });

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

const require = createRequire(import.meta.url);
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const STANDARDS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** What another size or scheme of the same page may change. */
const LOOKS = ['color-contrast', 'target-size', 'scrollable-region-focusable'];

/**
 * What axe finds wrong with the page as it stands; put in from outside, where the page’s own policy does not reach. `looks`: a page
 * that was judged before, in another size or scheme.
 */
export async function faultsOf(page: Page, looks = false): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>(
    `axe.run(document, ${JSON.stringify({ runOnly: looks ? LOOKS : STANDARDS })})`,
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}
