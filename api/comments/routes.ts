import type { Endpoint } from '../http/endpoint.js';

export const commentRoutes: Endpoint[] = [];
