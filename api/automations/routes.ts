import type { Endpoint } from '../http/endpoint.js';

export const automationRoutes: Endpoint[] = [];
