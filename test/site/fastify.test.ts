import { fastifySite } from './frameworks/fastify.js';
import { siteSuite } from './site-suite.js';

siteSuite(fastifySite('Fastify 5'));
