#!/usr/bin/env node
/** `npx @assent/client COMMAND`. */
import { main as runner } from './runner/cli.js';
import { main as verifyExport } from './verify-export.mjs';

const COMMANDS = { 'verify-export': verifyExport, runner };
const [name = '', ...args] = process.argv.slice(2);
if (Object.hasOwn(COMMANDS, name)) process.exitCode = await COMMANDS[name](args);
else {
  process.stderr.write(`Commands: ${Object.keys(COMMANDS).join(', ')}\n`);
  process.exitCode = 2;
}
