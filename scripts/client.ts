import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenApi } from '../api/http/openapi.js';
import { ENDPOINTS } from '../api/http/router.js';
import { type Endpoint, takesKey } from '../api/platform/endpoint/endpoint.js';
import { rowsFields } from '../api/platform/endpoint/pages.js';
import { receiptCasesText } from './client/receipt-cases.js';
import { writeSections } from './client/sections.js';

/**
 * `npm run client`: generates types and operations of the package @assent/client from our own document, and compiles it. It also writes the
 * sections of `docs` that follow from the code, and the cases that verifiers of receipts run. The generator of the types comes by npx and needs the network.
 */
const GENERATOR = 'openapi-typescript@7.13.0';
const target = join('clients', 'typescript');
const document = JSON.stringify(createOpenApi(ENDPOINTS));
// test/client.test.ts compares it, so that nobody changes the API and forgets its client.
const digest = createHash('sha256').update(document).digest('hex');
const header = `// Made by npm run client from the document with SHA-256 ${digest}.\n`;

/** Returns the declarations of the document. A template of an action is any text with braces, so unions of values stay visible. */
function generateTypes(): string {
  const dir = mkdtempSync(join(tmpdir(), 'assent-client-'));
  try {
    const [source, generated] = [join(dir, 'openapi.json'), join(dir, 'schema.d.ts')];
    writeFileSync(source, document);
    // A default of ours fills in what a caller leaves out: it does not make the field required.
    const args = ['--yes', GENERATOR, source, '--output', generated, '--default-non-nullable', 'false', '--alphabetize'];
    const { status, error } = spawnSync('npx', args, {
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw error ?? new Error(`${GENERATOR} ended with ${status}`);
    // oxlint-disable-next-line no-template-curly-in-string
    const types = readFileSync(generated, 'utf8').replace(' Template: string;', ' Template: `${string}{{${string}`;');
    // The service accepts other spellings of a status or priority; a program has no need of them, and a typing error is found.
    return types.replace(' Bytes: string;', ' Bytes: Blob;').replaceAll(/(\("(?:todo|low)" \|[^)]*\)) \| string/g, '$1');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the field that holds the rows of a list, empty for an array; undefined if the operation is no list. */
function describeRows(endpoint: Endpoint): string | undefined {
  if (endpoint.method !== 'get') return undefined;
  if (endpoint.response.type === 'array') return '';
  const [field, ...others] = rowsFields(endpoint);
  return others.length === 0 ? field : undefined;
}

/** Writes the earlier names of operations. */
function formerNames(): string {
  const lines = ENDPOINTS.flatMap(({ id, formerId }) => (formerId === undefined ? [] : [`  ${formerId}: '${id}',\n`]));
  return `/** Earlier names of operations; they still work. */\nexport const FORMER_NAMES = {\n${lines.join('')}} as const;\n`;
}

function operationsSource(): string {
  const lines = ENDPOINTS.map((endpoint) => {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    const rows = describeRows(endpoint);
    const list = rows === undefined ? '' : `, rows: '${rows}'`;
    return `  ${endpoint.id}: { method: '${endpoint.method.toUpperCase()}', path: '${path}', takesKey: ${takesKey(endpoint)}${list} },\n`;
  });
  const listIds = (kind: 'upload' | 'stream' | 'download') =>
    JSON.stringify(ENDPOINTS.filter((endpoint) => kind in endpoint).map(({ id }) => id)).replaceAll('"', "'");
  const transfers = `/** Operations that send a form with a file, those that send its bytes alone, and those that return bytes. */\nexport const UPLOADS: readonly string[] = ${listIds('upload')};\nexport const STREAMS: readonly string[] = ${listIds('stream')};\nexport const DOWNLOADS: readonly string[] = ${listIds('download')};\n`;
  return `${transfers}/** Method and path of every operation; \`takesKey\`: it takes an Idempotency-Key; \`rows\`: the field with the rows of a list, empty for an array. */\nexport const OPERATIONS = {\n${lines.join('')}} as const;\n${formerNames()}`;
}

/** The client has the version of the product. */
function copyVersion(): void {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const file = join(target, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, `${JSON.stringify({ ...manifest, version }, null, 2)}\n`);
}

writeSections();
writeFileSync(join('clients', 'receipt-cases.json'), await receiptCasesText());
writeFileSync(join(target, 'schema.d.ts'), header + generateTypes());
writeFileSync(join(target, 'operations.ts'), header + operationsSource());
execFileSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'format', '--write', join(target, 'operations.ts')]);
copyVersion();
execFileSync(process.execPath, [join(target, 'build.mjs')], { stdio: 'inherit' });
console.log(`wrote ${target}`);
