/**
 * `node deploy/prune-native.mjs node_modules`: removes the native cores of Temporal's SDK that are for other platforms. Ends with an error,
 * and removes nothing, where this platform's core is missing.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ARCH = { x64: 'x86_64', arm64: 'aarch64' };
const PLATFORM = { linux: 'unknown-linux-gnu', darwin: 'apple-darwin', win32: 'pc-windows-msvc' };

const [modules] = process.argv.slice(2);
if (!modules) throw new Error('Name the folder: node deploy/prune-native.mjs node_modules');
const releases = join(modules, '@temporalio', 'core-bridge', 'releases');
const ours = `${ARCH[process.arch]}-${PLATFORM[process.platform]}`;
if (!existsSync(join(releases, ours, 'index.node'))) throw new Error(`${releases} holds no core for ${ours}`);

const foreign = readdirSync(releases).filter((name) => name !== ours);
for (const name of foreign) rmSync(join(releases, name), { recursive: true });
process.stdout.write(`kept ${ours}, removed ${foreign.join(', ') || 'nothing'}\n`);
