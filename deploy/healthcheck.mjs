// Exit 0 when the given URL answers 200 within two seconds, else 1. The run image has no shell and no curl.
import { get } from 'node:http';

const request = get(process.argv[2], { timeout: 2000 }, (response) => process.exit(response.statusCode === 200 ? 0 : 1));
request.on('timeout', () => request.destroy());
request.on('error', () => process.exit(1));
