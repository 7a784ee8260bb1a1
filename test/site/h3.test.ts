import { h3Site } from './frameworks/h3.js';
import { siteSuite } from './site-suite.js';

siteSuite(h3Site('h3 2'));
