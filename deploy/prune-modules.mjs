/**
 * `node deploy/prune-modules.mjs node_modules`: removes what no process reads: the native cores of Temporal's SDK for other platforms, types,
 * sources in TypeScript, source maps and documents of packages. Ends with an error, and removes nothing, where this platform's core is missing.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ARCH = { x64: 'x86_64', arm64: 'aarch64' };
const PLATFORM = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin', win32: 'pc-windows-msvc' };

const [modules] = process.argv.slice(2);
if (!modules) throw new Error('Name the folder: node deploy/prune-modules.mjs node_modules');
const releases = join(modules, '@temporalio', 'core-bridge', 'releases');
const ours = `${ARCH[process.arch]}-${PLATFORM[process.platform]}`;
if (!existsSync(join(releases, ours, 'index.node'))) throw new Error(`${releases} holds no core for ${ours}`);

const foreign = readdirSync(releases).filter((name) => name !== ours);
for (const name of foreign) rmSync(join(releases, name), { recursive: true });
process.stdout.write(`kept ${ours}, removed ${foreign.join(', ') || 'nothing'}\n`);

/** Licenses stay, whatever their ending. */
const UNREAD = /\.(?:[cm]?ts|map|md|markdown)$/i;
const unread = readdirSync(modules, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && UNREAD.test(entry.name) && !/^(licen[cs]e|notice|copying)/i.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name));
for (const file of unread) rmSync(file);
process.stdout.write(`removed ${unread.length} files that no process reads\n`);
