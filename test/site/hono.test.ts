import { honoSite } from './frameworks/hono.js';
import { siteSuite } from './site-suite.js';

siteSuite(honoSite('Hono 4'));
