import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from './stack.js';

/** Adds settings to the installation's `.env`, and a file of deploy/ to its COMPOSE_FILE, then starts what is new or changed with it. */
export async function addComposeFile(stack: Stack, name: string, settings: Record<string, string> = {}): Promise<void> {
  const env = join(stack.dir, '.env');
  const text = readFileSync(env, 'utf8');
  const path = `deploy/${name}`;
  const lines = Object.entries(settings).filter(([key]) => !text.includes(`\n${key}=`));
  const added = lines.map(([key, value]) => `${key}=${value}\n`).join('');
  writeFileSync(env, (text.includes(path) ? text : text.replace('COMPOSE_FILE=docker-compose.yml', `$&:${path}`)) + added);
  await stack.compose(['up', '--detach', '--wait', '--no-build']);
}
