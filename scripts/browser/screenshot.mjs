/**
 * `npm run screenshot -- /app/approvals shot.png --as max@demo.test --width 390 --dark`: saves a full-page picture of the running
 * service, as a demo account or, without --as, as a visitor. Uses the Chromium of the browser tests. With `--time '.opblock-tag'` it then
 * loads the page five times and prints how long it takes until something fits that selector.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, obtainChromium } from '../embedded/chromium.mjs';
import { printFailure, StartError } from '../embedded/errors.mjs';
import { runningState } from '../embedded/run-state.mjs';
import { dataDir, loadEnvFile } from '../embedded/settings.mjs';

const USAGE = 'npm run screenshot -- /app/approvals shot.png [--as max@demo.test] [--width 1280] [--dark] [--time SELECTOR]';

const QUIET_MS = 500;
const MAX_SETTLING_MS = 10_000;
const ROUNDS = 5;
/** Chromium draws no taller picture. */
const MAX_HEIGHT = 16_384;

function given() {
  const options = {
    as: { type: 'string' },
    width: { type: 'string', default: '1280' },
    dark: { type: 'boolean', default: false },
    time: { type: 'string' },
    help: { type: 'boolean', default: false },
  };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  if (values.help) {
    console.log(USAGE);
    process.exit(0);
  }
  const [path, file] = positionals;
  if (!path?.startsWith('/') || !file)
    throw new StartError('A screenshot needs the path of a page and the name of a file.', USAGE);
  return { path, file, ...values };
}

async function signIn(page, email) {
  const { password } = JSON.parse(readFileSync(new URL('../embedded/demo-facts.json', import.meta.url), 'utf8'));
  await page.goto('/app/sign-in');
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  const sent = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.press('[name=password]', 'Enter');
  const status = (await sent).status();
  if (status >= 400) {
    const message = (await page.locator('[role=alert], .slip p:not([class])').first().innerText()).trim();
    throw new StartError(
      `The sign-in as ${email} was a ${status}: ${message}`,
      'After a 429 wait a minute; npm start lists the accounts.',
    );
  }
  await page.waitForURL(/\/app$/);
}

/** Waits until a page that a script draws stands still: no request and no change of its elements for half a second, its fonts there. */
async function settled(page) {
  // A page with a connection that stays open, such as a stream of events, is never idle.
  await page.waitForLoadState('networkidle', { timeout: MAX_SETTLING_MS }).catch(() => undefined);
  await page.evaluate(
    async ([quietMs, maxMs]) => {
      await document.fonts.ready;
      await new Promise((resolve) => {
        let timer = setTimeout(resolve, quietMs);
        setTimeout(resolve, maxMs);
        new MutationObserver(() => {
          clearTimeout(timer);
          timer = setTimeout(resolve, quietMs);
        }).observe(document, { subtree: true, childList: true });
      });
    },
    [QUIET_MS, MAX_SETTLING_MS],
  );
}

/** Returns how long the page takes until something fits the selector, in milliseconds: each time with an empty cache. */
async function measureLoad(browser, options, { path, as, time }) {
  const took = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await browser.newPage(options);
    if (as) await signIn(page, as);
    const started = performance.now();
    await page.goto(path, { waitUntil: 'commit' });
    await page.waitForSelector(time);
    took.push(Math.round(performance.now() - started));
    await page.close();
  }
  return took.toSorted((a, b) => a - b);
}

async function take(wanted, baseURL) {
  const { path, file, as, width, dark, time } = wanted;
  const browser = await chromium.launch({ ...(await obtainChromium()), args: CHROMIUM_ARGUMENTS });
  try {
    const viewport = { width: Number(width), height: 900 };
    const options = { baseURL, viewport, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' };
    const page = await browser.newPage(options);
    if (as) await signIn(page, as);
    await page.goto(path);
    await settled(page);
    const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), MAX_HEIGHT);
    await page.screenshot({ path: file, fullPage: true, clip: { x: 0, y: 0, width: viewport.width, height } });
    await page.close();
    if (!time) return;
    const took = await measureLoad(browser, options, wanted);
    process.stdout.write(`${time} after ${took[(ROUNDS - 1) / 2]} ms, the median of ${took.join(', ')}\n`);
  } finally {
    await browser.close();
  }
}

try {
  loadEnvFile();
  const wanted = given();
  const baseURL = runningState(dataDir())?.env?.BASE_URL;
  if (!baseURL)
    throw new StartError('No service runs in this checkout.', 'Start the service in another terminal first: npm start');
  await take(wanted, baseURL);
  process.stdout.write(`${wanted.file}\n`);
} catch (error) {
  printFailure(error);
  process.exitCode = 1;
}
