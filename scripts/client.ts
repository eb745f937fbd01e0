import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApi } from '../api/http/openapi.js';
import { ENDPOINTS } from '../api/http/router.js';

/**
 * `npm run client`: generates the TypeScript client's types from the API document. Runs the generator through npx, which needs the
 * network.
 */
const GENERATOR = 'openapi-typescript@7.13.0';
const target = process.argv[2] ?? join('clients', 'typescript', 'schema.d.ts');

const document = JSON.stringify(createOpenApi(ENDPOINTS));
const dir = mkdtempSync(join(tmpdir(), 'assent-client-'));
try {
  const [source, generated] = [join(dir, 'openapi.json'), join(dir, 'schema.d.ts')];
  writeFileSync(source, document);
  // A default fills in a missing field, so it does not make the field required.
  const args = ['--yes', GENERATOR, source, '--output', generated, '--default-non-nullable', 'false', '--alphabetize'];
  const { status, error } = spawnSync('npx', args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (status !== 0) throw error ?? new Error(`${GENERATOR} ended with ${status}`);
  // Compared by test/client.test.ts, so that the client follows every change of the API.
  const digest = createHash('sha256').update(document).digest('hex');
  writeFileSync(
    target,
    `// Made by npm run client from the document with SHA-256 ${digest}.\n${readFileSync(generated, 'utf8')}`,
  );
  console.log(`wrote ${target}`);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
