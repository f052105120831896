-- MySQL dump 10.19
-- Host: localhost    Database: testwiki
/*!40101 SET x=1 */;
DROP TABLE IF EXISTS `page`;
CREATE TABLE `page` (
  `page_id` int(8) unsigned NOT NULL,
  `page_namespace` int(11) DEFAULT 0,
  `page_title` varbinary(255),
  `page_is_redirect` tinyint(1),
  `page_random` double,
  PRIMARY KEY (`page_id`)
) ENGINE=InnoDB;
INSERT INTO `page` VALUES (1,0,'Hill',0,0.33),(-2,0,'It\'s_a_\"dale\"',1,1e-5),
(3,1,'Hill',0,.5),(4,0,'Mound,_(x);',0,NULL);
INSERT INTO `page` VALUES (1,0,'Hill',0,0.33),(-2,0,'It\'s_a_\"dale\"',1,1e-5),
(3,1,'Hill',0,.5),(4,0,'Mound,_(x);',0,NULL);
-- done
