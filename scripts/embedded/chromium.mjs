/** Finds a Chromium for browser tests and screenshots: the system's, or the one that npm installed with us, unpacked once per user. */
import { execFile } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { StartError } from './errors.mjs';

const run = promisify(execFile);
const PACKAGE = '@sparticuz/chromium';
const COMMANDS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];
const CURES = [
  'Install Chromium or Google Chrome (Debian: apt install chromium), or name one: CHROMIUM_PATH=/path/to/chrome',
  `On Linux x64 npm brings one along: run npm ci without --omit=dev, and look for node_modules/${PACKAGE}.`,
];

/** Flags of every start: no background network access, and no sandbox, which containers forbid. */
export const CHROMIUM_ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Finds a Chromium, the system's first.
 * @param {Record<string, string | undefined>} [env]
 * @returns {Promise<{executablePath: string, env: Record<string, string>}>} the file, and the environment that it needs to run
 * @throws {StartError} when there is none: a browser test fails then, it is never skipped
 */
export async function obtainChromium(env = process.env) {
  const system = systemChromium(env);
  if (system) return { executablePath: system, env: definedOnly(env) };
  const source = process.platform === 'linux' && process.arch === 'x64' && packageDir();
  if (!source) throw new StartError(`There is no Chromium on this machine (${process.platform} ${process.arch}).`, CURES);
  const dir = await unpacked(source, env).catch((error) => {
    throw new StartError(
      `The Chromium of ${PACKAGE} could not be unpacked.`,
      CURES,
      `${error.stderr || error.message}`.split('\n'),
    );
  });
  const libraries = [join(dir, 'al2023', 'lib'), env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
  return {
    executablePath: join(dir, 'chromium'),
    env: { ...definedOnly(env), LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: join(dir, 'fonts') },
  };
}

/** Returns CHROMIUM_PATH, else a known command on the PATH, else a known location; a setting is never ignored. */
function systemChromium(env) {
  if (env.CHROMIUM_PATH) {
    if (isExecutable(env.CHROMIUM_PATH)) return env.CHROMIUM_PATH;
    throw new StartError(`CHROMIUM_PATH=${env.CHROMIUM_PATH} is not a program that we may run.`, CURES);
  }
  const onPath = (env.PATH ?? '').split(delimiter).filter(Boolean);
  const commands = COMMANDS.flatMap((name) => onPath.map((dir) => join(dir, name)));
  return [...commands, ...PLACES].find(isExecutable);
}

/** Returns the folder of the npm package; null if it is not installed. */
function packageDir() {
  try {
    const entry = createRequire(import.meta.url).resolve(PACKAGE);
    return entry.slice(0, entry.lastIndexOf(join(...PACKAGE.split('/'))) + PACKAGE.length);
  } catch {
    return null;
  }
}

/**
 * Unpacks the browser, its libraries and its fonts (200 MB, about 4 s) into the user's cache. The work happens beside the final
 * folder and becomes it by one rename: of several processes at once the first wins, and a killed one leaves nothing half done.
 */
async function unpacked(source, env) {
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
  const target = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'assent', `chromium-${version}`);
  if (existsSync(join(target, 'chromium'))) return target;
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const stage = mkdtempSync(`${target}.`);
  try {
    // The package unpacks into TMPDIR, and its libraries only on Lambda, which a separate process simulates.
    const program = `const { default: chromium } = await import(${JSON.stringify(PACKAGE)}); await chromium.executablePath();`;
    const given = { ...env, TMPDIR: stage, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
    await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: dirname(source), env: given });
    const fonts = `<fontconfig><dir>${target}/fonts</dir><cachedir>${target}/fonts-cache</cachedir></fontconfig>`;
    writeFileSync(join(stage, 'fonts', 'fonts.conf'), `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">${fonts}\n`);
    chmodSync(stage, 0o755);
    renameSync(stage, target);
  } catch (error) {
    rmSync(stage, { recursive: true, force: true });
    if (!existsSync(join(target, 'chromium'))) throw error;
  }
  return target;
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

const definedOnly = (env) => Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
