import type { Endpoint } from '../../http/endpoint.js';

export const deadLetterRoutes: Endpoint[] = [];
