import { writeFileSync } from 'node:fs';
import { createOpenApi } from '../api/http/openapi.js';
import { ENDPOINTS } from '../api/http/router.js';

/** Writes the OpenAPI document: `npm run openapi -- path` (default: .build/openapi.json). */
const target = process.argv[2] ?? '.build/openapi.json';
writeFileSync(target, `${JSON.stringify(createOpenApi(ENDPOINTS), null, 2)}\n`);
console.log(`wrote ${target}`);
