/** Compiles the package into dist/. `npm run client` and `npm pack` run it. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const here = import.meta.dirname;
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
rmSync(join(here, 'dist'), { recursive: true, force: true });
for (const project of ['tsconfig.json', 'tsconfig.node.json'])
  execFileSync(process.execPath, [tsc, '-p', join(here, project)], { stdio: ['ignore', 2, 2] });
// The compiler does not copy declarations it only reads.
copyFileSync(join(here, 'schema.d.ts'), join(here, 'dist', 'schema.d.ts'));
// The verifier is one file, which an auditor can also take from clients/ as it is.
copyFileSync(join(here, '..', 'verify-export.mjs'), join(here, 'dist', 'verify-export.mjs'));
