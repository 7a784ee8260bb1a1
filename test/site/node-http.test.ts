import { nodeHttpSite } from './frameworks/node-http.js';
import { siteSuite } from './site-suite.js';

siteSuite(nodeHttpSite('node:http'));
