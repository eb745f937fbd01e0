/**
 * `npm run screenshot -- /app/approvals shot.png --as max@demo.test --width 390 --dark`: saves a full-page picture of the running
 * service, as a demo account or, without --as, as a visitor. Uses the Chromium of the browser tests.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { CHROMIUM_ARGUMENTS, obtainChromium } from './embedded/chromium.mjs';
import { printFailure, StartError } from './embedded/errors.mjs';
import { runningState } from './embedded/run-state.mjs';
import { dataDir, loadEnvFile } from './embedded/settings.mjs';

const USAGE = 'npm run screenshot -- /app/approvals shot.png [--as max@demo.test] [--width 1280] [--dark]';

function given() {
  const options = {
    as: { type: 'string' },
    width: { type: 'string', default: '1280' },
    dark: { type: 'boolean', default: false },
  };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [path, file] = positionals;
  if (!path?.startsWith('/') || !file)
    throw new StartError('A screenshot needs the path of a page and the name of a file.', USAGE);
  return { path, file, ...values };
}

async function signIn(page, email) {
  const { password } = JSON.parse(readFileSync(new URL('./embedded/demo-facts.json', import.meta.url), 'utf8'));
  await page.goto('/app/sign-in');
  await page.fill('[name=email]', email);
  await page.fill('[name=password]', password);
  const sent = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.press('[name=password]', 'Enter');
  const status = (await sent).status();
  if (status >= 400) {
    const told = (await page.locator('[role=alert], .slip p:not([class])').first().innerText()).trim();
    throw new StartError(
      `The sign-in as ${email} was a ${status}: ${told}`,
      'After a 429 wait a minute; npm start lists the accounts.',
    );
  }
  await page.waitForURL(/\/app$/);
}

async function take({ path, file, as, width, dark }, baseURL) {
  const browser = await chromium.launch({ ...(await obtainChromium()), args: CHROMIUM_ARGUMENTS });
  try {
    const viewport = { width: Number(width), height: 900 };
    const page = await browser.newPage({ baseURL, viewport, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
    if (as) await signIn(page, as);
    await page.goto(path);
    await page.screenshot({ path: file, fullPage: true });
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
