-- MySQL dump 10.19  Distrib 10.3.38-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: db.example.org    Database: samplezhwiki
-- ------------------------------------------------------
-- Server version	10.6.16-MariaDB-log

/*!40101 SET NAMES utf8mb4 */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;

--
-- Table structure for table `page_props`
--

DROP TABLE IF EXISTS `page_props`;
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE `page_props` (
  `pp_page` int(10) unsigned NOT NULL,
  `pp_propname` varbinary(60) NOT NULL,
  `pp_value` blob NOT NULL,
  `pp_sortkey` float DEFAULT NULL,
  PRIMARY KEY (`pp_page`,`pp_propname`),
  UNIQUE KEY `pp_propname_page` (`pp_propname`,`pp_page`),
  UNIQUE KEY `pp_propname_sortkey_page` (`pp_propname`,`pp_sortkey`,`pp_page`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;

--
-- Dumping data for table `page_props`
--

/*!40000 ALTER TABLE `page_props` DISABLE KEYS */;
INSERT INTO `page_props` VALUES
(1001,'page_image_free','Mercury.png',NULL),
(1003,'page_image_free','Island.png',NULL),
(1006,'page_image_free','Georgia-flag.png',NULL),
(1009,'wikibase_item','Q956',NULL),
(1012,'page_image_free','Apple.png',NULL),
(1016,'wikibase_item','Q1490',NULL),
(1024,'disambiguation','',NULL),
(1028,'disambiguation','',NULL),
(1032,'disambiguation','',NULL),
(1039,'disambiguation','',NULL),
(1041,'disambiguation','',NULL);
/*!40000 ALTER TABLE `page_props` ENABLE KEYS */;

/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;

-- Dump completed on 2024-06-01  6:05:12
